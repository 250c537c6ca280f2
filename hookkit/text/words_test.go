package text_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/text"
)

func TestWords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, text.Count(0, "test")+", "+text.Count(1, "test")+", "+text.Count(2, "more gate"), "0 tests, 1 test, 2 more gates")
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Microsecond: "2ms", 999 * time.Millisecond: "999ms", 1240 * time.Millisecond: "1.2s", 61 * time.Second: "1m1s",
	} {
		assert.Equal(t, text.Duration(d), want)
	}
	for d, want := range map[time.Duration]string{
		0: "0.01 s", 14 * time.Millisecond: "0.01 s", 820 * time.Millisecond: "0.8 s", 2 * time.Second: "2 s", 61250 * time.Millisecond: "61.3 s",
	} {
		assert.Equal(t, text.Seconds(d), want)
	}
	now := time.Date(2030, 5, 6, 9, 0, 0, 0, time.Local)
	assert.Equal(t, text.Clock(now.Add(2*time.Hour), now), "11:00")
	assert.Equal(t, text.Clock(now.AddDate(0, 0, 1), now), "7 May 09:00")
}
