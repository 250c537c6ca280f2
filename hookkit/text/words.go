package text

import (
	"strconv"
	"time"
)

// Count is a number of things: "1 test", "2 tests".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// Duration is a time that something took, for people: to the millisecond below a second, else to its tenth.
func Duration(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// Seconds is [Duration] in the words of a test runner: "0.01 s", "0.8 s", "12.3 s".
func Seconds(d time.Duration) string {
	unit := 10 * time.Millisecond
	if d >= 100*time.Millisecond {
		unit *= 10
	}
	return strconv.FormatFloat(max(d.Round(unit), 10*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// Clock is a coming time for people, in the local zone: "15:04", with the date unless it comes within a day.
func Clock(t, now time.Time) string {
	if t.Sub(now) < 24*time.Hour {
		return t.Local().Format("15:04")
	}
	return t.Local().Format("2 January 15:04")
}
