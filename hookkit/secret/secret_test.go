package secret_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/internal/growth"
	"github.com/hookkit/brepl/hookkit/secret"
)

// A sample is a text with a secret, and what of it must not be read.
type sample struct {
	Kind         secret.Kind
	Text, Secret string
}

// samples reads testdata/secrets.jsonl, which the tests of lab and triage read too. A dot in the middle of a token, which goes, keeps
// scanners of repositories from taking the file for a leak. None of the secrets was ever live.
func samples(t *testing.T) (out []sample) {
	t.Helper()
	for line := range strings.Lines(read(t, "testdata/secrets.jsonl")) {
		var s sample
		assert.NilError(t, json.Unmarshal([]byte(line), &s))
		out = append(out, s)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	return strings.ReplaceAll(string(data), "·", "")
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		for _, text := range []string{s.Text, "x " + s.Text + " y", "We use Postgres, with " + s.Text + "."} {
			var kinds []secret.Kind
			end, rest := 0, ""
			for _, span := range secret.Find(text) {
				assert.Assert(t, end <= span.Start && span.Start < span.End && span.End <= len(text), "%q: %v", text, span)
				rest, end, kinds = rest+text[end:span.Start]+"|", span.End, append(kinds, span.Kind)
			}
			rest += text[end:]
			assert.Check(t, !strings.Contains(rest, s.Secret), "%q leaves %q", text, rest)
			found := false
			for _, kind := range kinds {
				found = found || kind == s.Kind
			}
			assert.Check(t, found, "%q: %v, not %s", text, kinds, s.Kind)
			masked := secret.Mask(text)
			assert.Check(t, !strings.Contains(masked, s.Secret) && strings.Contains(masked, secret.Masked), "%q", masked)
			assert.Check(t, secret.Mask(masked) == masked, "%q is masked again: %q", masked, secret.Mask(masked))
		}
	}
}

// TestFindKnowsEveryKind: each kind that there is stands in the table.
func TestFindKnowsEveryKind(t *testing.T) {
	t.Parallel()
	known := map[secret.Kind]bool{}
	for _, s := range samples(t) {
		known[s.Kind] = true
	}
	for _, file := range []string{"secret.go", "heads.go"} {
		for line := range strings.Lines(read(t, file)) {
			if name, kind, ok := strings.Cut(line, ` Kind = "`); ok {
				kind, _, _ = strings.Cut(kind, `"`)
				assert.Check(t, known[secret.Kind(kind)], "no text with %s", strings.TrimSpace(name))
			}
		}
	}
}

// TestFindLeavesTheRest: what only speaks of secrets stays, as do names, ids and code; looking for secrets in it takes no memory.
func TestFindLeavesTheRest(t *testing.T) {
	text := read(t, "testdata/plain.txt")
	for line := range strings.Lines(text) {
		for _, text := range []string{line, "We decided to use " + strings.TrimSpace(line) + " for the store."} {
			assert.Check(t, secret.Find(text) == nil, "%q became %q", text, secret.Mask(text))
		}
		allocs := testing.AllocsPerRun(1, func() { secret.Find(line) })
		assert.Check(t, allocs == 0, "%q: %v", line, allocs)
	}
}

// TestMaskKeepsAround: only the secret goes, so that the sentence can still be read.
func TestMaskKeepsAround(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://h/x?a=1&token=swordfish&b=2, then":  "https://h/x?a=1&token=[masked]&b=2, then",
		"(password=swordfish), then":                 "(password=[masked]), then",
		`{"password":"swordfish","a":1}`:             `{"password":"[masked]","a":1}`,
		"Server=db;Password=swordfish;Port=1":        "Server=db;Password=[masked];Port=1",
		"postgres://a:swordfish@db/x":                "postgres://[masked]@db/x",
		"postgres://a:sword@fi/sh@db/x":              "postgres://[masked]@db/x",
		"postgres://a:sword\nfish@db/x":              "postgres://[masked]@db/x",
		"it is postgres://a:sword":                   "it is postgres://[masked]",
		"jdbc:oracle:thin:a/swordfish@//db/x":        "jdbc:oracle:thin:[masked]@//db/x",
		"export A=$(echo a b) B=(c d) and go":        "export A=[masked] B=[masked] and go",
		"<i>password</i>: <i>swordfish</i>":          "<i>password</i>: <i>[masked]</i>",
		"Authorization: Bearer swordfish, then":      "Authorization: Bearer [masked], then",
		"export A=1 B=2 and go":                      "export A=[masked] B=[masked] and go",
		"mysql -pswordfish shop":                     "mysql -p[masked] shop",
		"the password is swordfish.":                 "the password is [masked].",
		"password: sword fish marlin\nport: 1":       "password: [masked]\nport: 1",
		"passphrase: sword fish for the store":       "passphrase: [masked] for the store",
		"password=[masked]":                          "password=[masked]",
		"<password>swordfish</password>":             "<password>[masked]</password>",
		"-----BEGIN X PRIVATE KEY-----\nMII\n":       "[masked]",
		"Cookie: a=sword; b=fish\nHost: h":           "Cookie: [masked]\nHost: h",
		"echo 'token=swordfish'\\''' now":            "echo 'token=[masked]'\\''' now",
		"\x1b[1mpassword\x1b[0m: sword\u200bfish, ü": "\x1b[1mpassword\x1b[0m: [masked], ü",
		"a\x1b]0;password=swordfish\a":               "a\x1b]0;password=[masked]\a", // a title
		"ä\u00a0token=\x1b[31mswordfish\x1b[0m":      "ä\u00a0token=\x1b[31m[masked]\x1b[0m",
	} {
		assert.Check(t, secret.Mask(text) == want, "%q became %q", text, secret.Mask(text))
	}
}

// TestFindInOneAnother: what has a form of its own is a secret by itself within what a name is given, so that it is known elsewhere too.
func TestFindInOneAnother(t *testing.T) {
	t.Parallel()
	key := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	text := "https://bob:" + key + "@h and PASSWORD=" + key + " and export A='x " + key + " y'"
	var got []string
	for _, span := range secret.Find(text) {
		got = append(got, string(span.Kind)+" "+strings.ReplaceAll(text[span.Start:span.End], key, "KEY"))
	}
	assert.DeepEqual(t, got, []string{"login bob:", "github-token KEY", "github-token KEY", "exported x ", "github-token KEY", "exported  y"})
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"password", "swordfish", true},
		{"dbPassword", "12345678", true},
		{"X-Auth", "tuvwxyz", true},
		{"pin", "4711", true},
		{"password", "$PASSWORD", false},
		{"password", "required", false},
		{"key", "order_lines", false},
		{"session_id", "test-session", false},
		{"input_tokens", "many words", false},
		{"token_count", "123457", false},
		{"", "swordfish", false},
	} {
		assert.Check(t, secret.Named(c.name, c.value) == c.want, "%v", c)
	}
	assert.Check(t, secret.Option("--db-password") && secret.Option("-token") && !secret.Option("--tokens") && !secret.Option("token") && !secret.Option("--token=x"))
	assert.Check(t, secret.OptionValue("abc") && !secret.OptionValue("--verbose") && !secret.OptionValue("$TOKEN"))
}

// TestMaskHidesDrawnTokens: what secrets.token_urlsafe and its like make is never shown whole, and hardly ever in part.
func TestMaskHidesDrawnTokens(t *testing.T) {
	t.Parallel()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	random := rand.New(rand.NewPCG(1, 2))
	const tokens, piece = 2000, 6
	inPart := 0
	for i := range tokens {
		token := make([]byte, []int{24, 32, 43}[i%3])
		for j := range token {
			token[j] = letters[random.IntN(len(letters))]
		}
		got := secret.Mask("We decided to use Postgres instead of MySQL with " + string(token) + " for the store.")
		assert.Check(t, !strings.Contains(got, string(token)), got)
		assert.Check(t, strings.HasPrefix(got, "We decided to use Postgres instead of MySQL with ") && strings.HasSuffix(got, " for the store."), got)
		for j := range len(token) - piece + 1 {
			if strings.Contains(got, string(token[j:j+piece])) {
				inPart++
				t.Logf("in part: %s: %s", token, got)
				break
			}
		}
	}
	assert.Assert(t, inPart <= tokens/100, "%d of %d are shown in part", inPart, tokens)
}

const awsKey = "AKIA" + "IOSFODNN7EXAMPLE"

var parts = []string{
	"password", "key", "token", " is ", ": ", "=", "\"", "'", "\\", "%3D", "://", "@", "-p", "--", " ", "\n", "export ", "Bearer ", "a1b2c3d4", "ä", "\x1b[", "\xff", "(", ")",
	"-----BEGIN", "?", "&", "the ", "\"a b\"", "`a b c` ", " for ", "\u200b", "_", "x-", "“", "</", "<", ">", "${", "}", "$(", "cookie", "export A=", awsKey,
}

// TestFindAnything: no text makes it fail, and no key stays.
func TestFindAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.String()), 0, 30).Draw(t, "parts"), "")
		end := 0
		for _, span := range secret.Find(text) {
			assert.Assert(t, end <= span.Start && span.Start < span.End && span.End <= len(text), "%q: %v", text, span)
			end = span.End
		}
		assert.Assert(t, !strings.Contains(secret.Mask(text), awsKey), "%q", text)
	})
}

// TestFindTakesLinearTime pins that names within a value, quotes that stay open and brackets at its end are not looked at again and again.
func TestFindTakesLinearTime(t *testing.T) {
	for _, part := range append(
		parts, "password is ", "x=", "password=\"", "a:b@", "://a:", ";a=", "token (", "mysql -p", "`a b` ", "password for the ", "s.", "sk-", "[", "a,",
		"password=", "token=“", "key:", "key:“", "aghp_", "<token>", "cookie=a ", "a-", "token=$(", "token=\\\"", "token )", "export A=(",
	) {
		assert.Check(t, growth.Linear(8<<10/len(part), func(size int) func() {
			text := strings.Repeat(part, size) + "))))"
			return func() { secret.Find(text) }
		}), "%q", part)
	}
}
