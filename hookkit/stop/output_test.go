package stop

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestCleanOutput(t *testing.T) {
	for _, row := range []struct{ title, raw, want string }{
		{"plain", "a\nb\n", "a\nb"},
		{"colour", "\x1b[31mFAIL\x1b[0m in x", "FAIL in x"},
		{"window title", "\x1b]0;title\x07text", "text"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"unfinished title does not swallow the next line", "a\x1b]0;title\nFAIL", "a\nFAIL"},
		{"blank lines before the text", "\n\n  a\n", "  a"},
		{"unfinished CSI at the end", "a\x1b[", "a"},
		{"escape alone", "a\x1b", "a"},
		{"two-byte escape", "\x1b7text", "text"},
		{"three-byte escape", "\x1b(Btext", "text"},
		{"escape before a line's end", "a\x1b\nb", "a\nb"},
		{"progress bar", "10%\r50%\r100%\ndone", "100%\ndone"},
		{"CRLF", "a\r\nb\r\n", "a\nb"},
		{"CR at the end keeps the line", "a\r", "a"},
		{"bell, backspace and NUL", "a\x07\x08\x00b", "ab"},
		{"tab stays", "a\tb", "a\tb"},
		{"invalid UTF-8", "a\xffb", "a\ufffdb"},
		{"direction override", "a\u202eb\u2066c", "abc"},
		{"C1 control", "a\u0085b", "ab"},
		{"trailing blanks", "a \n\n ", "a"},
	} {
		t.Run(row.title, func(t *testing.T) { assert.Equal(t, cleanOutput([]byte(row.raw)), row.want) })
	}
}

func TestCleanOutputIsPlainText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := cleanOutput(rapid.SliceOf(rapid.Byte()).Draw(t, "raw"))
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\x00\x07") {
			t.Fatalf("%q", got)
		}
		if again := cleanOutput([]byte(got)); again != got {
			t.Fatalf("not stable: %q, then %q", got, again)
		}
	})
}

func TestLastLines(t *testing.T) {
	for _, row := range []struct {
		title, text string
		limit       int
		want        string
		leftOut     int
	}{
		{"all fits", "a\nb", 3, "a\nb", 0},
		{"the end is kept", "one\ntwo\nthree", 9, "two\nthree", 1},
		{"lines stay whole", "one\ntwo\nthree", 8, "three", 2},
		{"a long last line is cut at its front", "one\nabcdefgh", 5, "…efgh", 1},
		{"astral characters count twice", "a\n😀😀", 4, "😀😀", 1},
		{"nothing fits", "abc", 1, "…", 0},
	} {
		t.Run(row.title, func(t *testing.T) {
			kept, leftOut := lastLines(row.text, row.limit)
			assert.Equal(t, kept, row.want)
			assert.Equal(t, leftOut, row.leftOut)
		})
	}
}

func TestShares(t *testing.T) {
	assert.DeepEqual(t, shares([]int{10, 1000, 50}, 100), []int{10, 45, 45})
	assert.DeepEqual(t, shares([]int{10, 20}, 100), []int{10, 20})
	assert.DeepEqual(t, shares(nil, 100), []int{})
	assert.DeepEqual(t, shares([]int{5}, 0), []int{0})
}

func TestFingerprintIgnoresWhatVaries(t *testing.T) {
	same := []string{
		"Ran 3 tests in 0.12 s at 12:00:01, object@7f3a9c, 0xdeadBEEF",
		"Ran 14 tests in 7.5 s at 23:59:59, object@00ff1e, 0x0",
	}
	assert.Equal(t, fingerprint(same[0]), fingerprint(same[1]))
	assert.Assert(t, fingerprint("FAIL in foo") != fingerprint("FAIL in bar"))
	assert.Assert(t, fingerprint("expected a") != fingerprint("expected b"))
	assert.Equal(t, fingerprint("test1_x"), fingerprint("test2_x"))
}

func TestReadTestCounts(t *testing.T) {
	for _, row := range []struct {
		title, value, want string
		ok, failed         bool
		empty              bool
	}{
		{"clojure.test", "{:test 42, :pass 100, :fail 3, :error 1, :type :summary}", "3 failures, 1 error in 42 tests", true, true, false},
		{"one test", "{:test 1, :pass 0, :fail 1, :error 0, :type :summary}", "1 failure in 1 test", true, true, false},
		{"all passed", "{:test 42, :pass 100, :fail 0, :error 0, :type :summary}", "", true, false, false},
		{"kaocha", "{:kaocha.result/count 2, :kaocha.result/fail 1, :kaocha.result/error 0}", "1 failure in 2 tests", true, true, false},
		{"kaocha as the REPL prints it", "#:kaocha.result{:count 2, :pass 1, :error 2, :fail 0, :pending 0}", "2 errors in 2 tests", true, true, false},
		{"a ratio and a float count too", "{:test 2.0 :fail 1/2 :error 1.0}", "1 failure, 1 error in 2 tests", true, true, false},
		{"no numbers", "{:fail nil}", "", false, false, false},
		{"not a map", "[:fail 1]", "", false, false, false},
		{"a map within text", "x {:fail 1}", "", false, false, false},
		{"unreadable", "#object[foo {:fail 1}", "", false, false, false},
		{"a fresh REPL", "{:test 0, :pass 0, :fail 0, :error 0, :type :summary}", "", true, false, true},
		{"kaocha found nothing", "#:kaocha.result{:count 0, :pass 0, :error 0, :fail 0, :pending 0}", "", true, false, true},
		{"an error of a fixture is no empty run", "{:test 0, :pass 0, :fail 0, :error 1}", "1 error", true, true, false},
		{"assertions of a test-ns-hook", "{:test 0, :pass 3, :fail 0, :error 0}", "", true, false, false},
		{"how many is not said", "{:fail 0, :error 0}", "", true, false, false},
		{"nothing to do with tests", "42", "", false, false, false},
	} {
		t.Run(row.title, func(t *testing.T) {
			counts := readTestCounts(row.value)
			assert.Equal(t, counts.known, row.ok)
			assert.Equal(t, counts.empty, row.empty)
			assert.Equal(t, counts.failed(), row.failed)
			if row.failed {
				assert.Equal(t, counts.String(), row.want)
			}
		})
	}
}
