package fakes

import (
	"errors"
	"io"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// FuzzBencodeAcceptsOnlyCanonical holds the strictness of the codec: what it
// accepts is exactly what it would write.
func FuzzBencodeAcceptsOnlyCanonical(f *testing.F) {
	for _, seed := range []string{
		"de", "d2:id1:12:op4:evale", "d1:ai-1e1:bli0e0:ee", "d1:ad1:bdeee", "d1:bi1e1:ai1ee", "d1:ai01ee", "d01:ai1ee",
		"d1:ai-0ee", "d1:ai1e1:ai1ee", "d1:a5:xx", "d1:ai9223372036854775807ee", "d1:a", "i1e", "d1:a-1:e", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		r := newBencodeReader(strings.NewReader(data))
		m, err := r.message()
		if err == nil {
			assert.Equal(t, string(m.Encode()), data[:r.offset])
			return
		}
		var broken *bencodeError
		if !errors.As(err, &broken) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}

func TestBencodeEndOfStream(t *testing.T) {
	r := newBencodeReader(strings.NewReader("d1:a1:be" + "d1:a"))
	m, err := r.message()
	assert.NilError(t, err)
	assert.DeepEqual(t, m, Message{"a": "b"})
	_, err = r.message()
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = newBencodeReader(strings.NewReader("")).message()
	assert.ErrorIs(t, err, io.EOF)
}

func TestEncodePanicsOnWhatBencodeDoesNotHave(t *testing.T) {
	defer func() { assert.Equal(t, recover(), "fakes: bencode has no float64") }()
	Message{"x": 1.5}.Encode()
}
