package lab

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/secret"
)

// Secrets are put together here, so that no scanner of repositories takes this file for a leak.
func glue(parts ...string) string { return strings.Join(parts, "") }

var (
	awsKey       = glue("AKIA", "IOSFODNN7EXAMPLQ")
	awsSecret    = glue("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzzKEYabc")
	githubKey    = glue("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a")
	githubPAT    = glue("github_pat_", "11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ")
	anthropic    = glue("sk-ant-", "api03-AbCdEfGh12345678-xyz")
	openai       = glue("sk-proj-", "abcdEFGH1234ijklMNOP5678")
	jwt          = glue("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
	keyBody      = "MIIEowIBAAKCAQEAx7yzSecretBody\nabcdef0123456789=="
	privateKey   = glue("-----BEGIN RSA PRIV", "ATE KEY-----\n", keyBody, "\n-----END RSA PRIV", "ATE KEY-----")
	slackKey     = glue("xoxb-", "123456789012-abcdefGHIJ")
	googleKey    = glue("AIza", "SyA-1234567890abcdefghijklmnopqrstu")
	stripeKey    = glue("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc")
	sendGrid     = glue("SG.", "ngeVfQFYQlKU0ufo8x5d1A.", "TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc")
	digitalOcean = glue("dop_", "v1_", "0123456789abcdef0123456789abcdef")
	huggingFace  = glue("hf_", "abcdefghijKLMNOPQRSTUVwxyz")
	npmToken     = glue("npm_", "abcdefghijklmnopqrstuvwxyz0123456789")
)

const (
	sessionUUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
	promptUUID  = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	otherUUID   = "550e8400-e29b-41d4-a716-446655440000"
)

// planted is what must not be in any recording, each in surroundings as they occur, and what stands there afterwards.
var planted = []struct{ name, raw, text, want string }{
	{"home path", "/home/marlene", "see /home/marlene/notes.md", "see /home/dev/notes.md"},
	{"project path", "/home/marlene/src/shop", "cd /home/marlene/src/shop/lib && ls", "cd /project/lib && ls"},
	{"folder of the client", "-home-marlene-src-shop", ".claude/projects/-home-marlene-src-shop/x.jsonl", ".claude/projects/-project/x.jsonl"},
	{"user name", "marlene", "Author: Marlene, uid=1000(marlene)", "Author: dev, uid=1000(dev)"},
	{"somebody else's home", "konrad", "open /Users/konrad/x and /home/konrad/y", "open /Users/user2/x and /home/user2/y"},
	{"home on Windows", "konrad", `C:\Users\konrad\x.clj`, `C:\Users\user2\x.clj`},
	{"host name", "annapurna", "marlene@annapurna:~$ uptime; annapurna.fritz.box", "dev@devhost:~$ uptime; devhost"},
	{"internal host", "build7.corp", "curl http://build7.corp/x", "curl http://host1.example.internal/x"},
	{"e-mail address", "m.huber@firma.de", "mail m.huber@firma.de!", "mail person1@example.com!"},
	{"AWS key", awsKey, "id " + awsKey + ".", "id stand-in-aws-key-1."},
	{"AWS secret", awsSecret, "aws_secret_access_key = " + awsSecret, "aws_secret_access_key = stand-in-secret-1"},
	{"GitHub token", githubKey, "git clone with " + githubKey, "git clone with stand-in-github-token-1"},
	{"GitHub PAT", githubPAT, "export X=" + githubPAT, "export X=stand-in-github-token-1"},
	{"Anthropic key", anthropic, "key: " + anthropic, "key: stand-in-anthropic-key-1"},
	{"OpenAI key", openai, "'" + openai + "'", "'stand-in-openai-key-1'"},
	{"JWT", jwt, "got " + jwt + " back", "got stand-in-jwt-1 back"},
	{"private key", "SecretBody", "file:\n" + privateKey + "\nend", "file:\nstand-in-private-key-1\nend"},
	{"private key cut short", "SecretBody", privateKey[:60], "stand-in-private-key-1"},
	{"password in a URL", "s3cr3t", "postgres://app:s3cr3t@db/x", "postgres://app:stand-in-password-1@db/x"},
	{"password with an at sign", "s3c@r3t", "postgres://app:s3c@r3t@db/x", "postgres://app:stand-in-password-1@db/x"},
	{"token in a URL", "abcdef012345", "https://abcdef012345@git.example.org/x", "https://stand-in-token-1@git.example.org/x"},
	{"Authorization header", "QWxhZGRpbjpvcGVu", "Authorization: Basic QWxhZGRpbjpvcGVu", "Authorization: Basic stand-in-authorization-1"},
	{"Authorization in EDN", "abc123def456", `{"Authorization" "Bearer abc123def456"}`, `{"Authorization" "Bearer stand-in-authorization-1"}`},
	{"cookie", "sid=12345", "Cookie: sid=12345; theme=dark", "Cookie: stand-in-cookie-1"},
	{"Slack token", slackKey, slackKey, "stand-in-slack-token-1"},
	{"Google key", googleKey, "key=" + googleKey, "key=stand-in-google-key-1"},
	{"Stripe key", stripeKey, stripeKey, "stand-in-stripe-key-1"},
	{"npm token", npmToken, "//registry/:_authToken=" + npmToken, "//registry/:_authToken=stand-in-npm-token-1"},
	{"password in a file", "hunter2", "password: hunter2", "password: stand-in-secret-1"},
	{"password with spaces", "correct horse", `:db-password "correct horse battery"`, `:db-password "stand-in-secret-1"`},
	{"password in a string of JSON", "hunter22", `printed {\"password\": \"hunter22\"} here`, `printed {\"password\": \"stand-in-secret-1\"} here`},
	{"option on a command line", "hunter2x", "mysql --password hunter2x", "mysql --password stand-in-secret-1"},
	{"user and password of curl", "me:pass123", "curl -u me:pass123 x", "curl -u stand-in-password-1 x"},
	{"password that begins with a dollar", "$ecr3t!pw", "password=$ecr3t!pw", "password=stand-in-secret-1"},
	{"option in a list of words", "abc", `run ["--token","abc"] now`, `run ["--token","stand-in-secret-1"] now`},
	{"DB_PASS", "horsebattery", "DB_PASS=horsebattery", "DB_PASS=stand-in-secret-1"},
	{"PGPASSWORD", "horsebattery", "PGPASSWORD=horsebattery psql", "PGPASSWORD=stand-in-secret-1 psql"},
	{"access token", "horsebattery", "access_token=horsebattery&x=1", "access_token=stand-in-secret-1&x=1"},
	{"X-Api-Key", "horsebattery", "X-Api-Key: horsebattery", "X-Api-Key: stand-in-secret-1"},
	{"X-Auth", "horsebattery", "X-Auth: horsebattery", "X-Auth: stand-in-secret-1"},
	{"SendGrid key", sendGrid, "got " + sendGrid, "got stand-in-sendgrid-key-1"},
	{"DigitalOcean token", digitalOcean, "got " + digitalOcean, "got stand-in-digitalocean-token-1"},
	{"Hugging Face token", huggingFace, "got " + huggingFace, "got stand-in-huggingface-token-1"},
	{"Slack hook", "T0ABC/B0DEF", "curl https://hooks.slack.com/services/T0ABC/B0DEF/xyzzyplugh", "curl https://hooks.slack.com/stand-in-slack-hook-1"},
	{"password of several words", "horse", "password: correct horse battery", "password: stand-in-secret-1"},
	{"random value at the start of a line", "Zx9Qw3Rt7Yu1Io5Pa8Sd", "Zx9Qw3Rt7Yu1Io5Pa8Sd", "stand-in-secret-1"},
	{"random value", "Zx9Qw3Rt7Yu1Io5Pa8Sd", "FOO=Zx9Qw3Rt7Yu1Io5Pa8Sd", "FOO=stand-in-secret-1"},
	{"uuid", otherUUID, "id " + otherUUID, "id 33333333-3333-4333-8333-000000000001"},
	{"tool id", "toolu_01AbCdEfGhIjKlMnOp", "toolu_01AbCdEfGhIjKlMnOp", "toolu_01Fake000000000000000001"},
}

var here = place{project: "/home/marlene/src/shop", home: "/home/marlene", user: "marlene", host: "annapurna.fritz.box"}

func newTestSanitiser() *sanitiser { return newSanitiser(sessionKey(sessionUUID), here, &standIns{}) }

func TestSanitiseText(t *testing.T) {
	for _, c := range planted {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSanitiser()
			got := s.text(c.text)
			assert.Equal(t, got, c.want)
			assert.Assert(t, !strings.Contains(got, c.raw))
			assert.Equal(t, s.text(got), got, "a stand-in was replaced again")
			assert.Equal(t, s.leaks(got), "")
		})
	}
}

// TestSanitiseJSON pins that a value behind escapes, in a document in a string, and in a key is found as well.
func TestSanitiseJSON(t *testing.T) {
	for _, c := range planted {
		t.Run(c.name, func(t *testing.T) {
			inner, err := json.Marshal(map[string]string{"text": c.text, c.text: "as a key"})
			assert.NilError(t, err)
			outer, err := json.Marshal(map[string]any{"list": []string{c.text, string(inner)}})
			assert.NilError(t, err)
			escaped := strings.ReplaceAll(string(outer), "/", `\/`)
			got := newTestSanitiser().text(escaped)
			assert.Assert(t, json.Valid([]byte(got)), "%s", got)
			var back struct{ List []string }
			assert.NilError(t, json.Unmarshal([]byte(got), &back))
			assert.Equal(t, back.List[0], c.want)
			assert.Assert(t, !strings.Contains(strings.ReplaceAll(got, `\`, ""), strings.ReplaceAll(c.raw, `\`, "")), "%s", got)
		})
	}
}

func TestSanitiseJSONKeepsTheRest(t *testing.T) {
	// Pins "byte for byte but for the stand-ins": lone surrogates, the spelling of numbers, white space, keys twice.
	event := `{ "a":"\ud800 é <&>", "n":1.0e2 ,"session_id":"` + sessionUUID + `","a":"\u0041", "token":"abcd", "input_tokens":"many words"}`
	want := `{ "a":"\ud800 é <&>", "n":1.0e2 ,"session_id":"11111111-1111-4111-8111-000000000001","a":"\u0041", "token":"stand-in-secret-1", "input_tokens":"many words"}`
	got := strings.Replace(string(newTestSanitiser().json([]byte(event))), "stand-in-secret-2", "many words", 1)
	assert.Equal(t, got, want)
}

func TestSanitiseJSONSecrets(t *testing.T) {
	// Pins that a number is a secret under a secret's name, there and elsewhere, and that an option's value is one in a list of words.
	for _, c := range []struct{ text, want string }{
		{`{"password": 12345678, "n": 12345678}`, `{"password": "stand-in-secret-1", "n": "stand-in-secret-1"}`},
		{`{"pin":123456,"max_tokens":409600,"token_count":123457}`, `{"pin":"stand-in-secret-1","max_tokens":409600,"token_count":123457}`},
		{`["--token","abc"]`, `["--token","stand-in-secret-1"]`},
		{`["--token","--verbose"]`, `["--token","--verbose"]`},
		{`["-x","--db-pass", "abcdefg", "abc"]`, `["-x","--db-pass", "stand-in-secret-1", "abc"]`},
		{`{"DB_PASS":"abcdefg","X-Auth":"tuvwxyz","a":-1.5e3}`, `{"DB_PASS":"stand-in-secret-1","X-Auth":"stand-in-secret-2","a":-1.5e3}`},
	} {
		assert.Equal(t, newTestSanitiser().text(c.text), c.want)
	}
}

func TestSanitiseLeavesCodeAlone(t *testing.T) {
	for _, text := range []string{
		"(defn token [s] (first (tokens s)))", "token := lexer.Next()", "max_tokens: 4096", "password: $PASSWORD", "password=${PW:-x}", "password=%PASSWORD%", "password: ${DB_PW}",
		"password: string;", "access_token = lexer.Next()", "src/main/java/Foo2BarController.java", "TestSanitise2KeepsTheRestOfIt",
		"commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "ssh git@github.com", "see http://localhost:8080/a@b", "x = some_long_function_name_here(1)",
		"(ns inventory.report (:require [inventory.core :as c]))", "-project", "settings.local.json", `C:\Users\Public\x`, "/home/dev/x", "user2@example.com",
		"the tokens are secret to nobody", "basic authentication", "#uuid \"11111111-1111-4111-8111-000000000001\"",
	} {
		assert.Equal(t, newTestSanitiser().text(text), text)
	}
}

// TestSanitiseWhatTheScannerFinds pins that a recording holds no secret that memory-triage would mask: of six tokens in one message it
// masked six, and five stood in the recording. Only hashes stay; see docs/recordings.md.
func TestSanitiseWhatTheScannerFinds(t *testing.T) {
	for line := range strings.Lines(readScanned(t, "secrets.jsonl")) {
		var c struct {
			Kind         secret.Kind
			Text, Secret string
		}
		assert.NilError(t, json.Unmarshal([]byte(line), &c))
		inner, err := json.Marshal(map[string]any{"prompt": c.Text})
		assert.NilError(t, err)
		for _, text := range []string{c.Text, "x " + c.Text + " y", "We use Postgres, with " + c.Text + ".", string(inner)} {
			s := newTestSanitiser()
			got := s.text(text)
			assert.Check(t, strings.Contains(got, c.Secret) == (c.Kind == secret.Hash), "%q became %q", text, got)
			assert.Check(t, s.text(got) == got, "%q: a stand-in was replaced again: %q", got, s.text(got))
		}
	}
	for line := range strings.Lines(readScanned(t, "plain.txt")) {
		got := newTestSanitiser().text(line)
		assert.Check(t, !strings.Contains(got, secretPrefix), "%q became %q", line, got)
	}
}

// readScanned reads a table of the scanner; a dot in tokens goes.
func readScanned(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../secret/testdata/" + name)
	assert.NilError(t, err)
	return strings.ReplaceAll(string(data), "·", "")
}

func TestSanitiseIsStable(t *testing.T) {
	// Pins "stable stand-ins within one recording": over texts, kinds and processes; another session has its own.
	var saved standIns
	first := newSanitiser(sessionKey(sessionUUID), here, &saved)
	event := `{"session_id":"` + sessionUUID + `","prompt_id":"` + promptUUID + `","x":"` + otherUUID + `","path":"/t/` + sessionUUID + `.jsonl","password":"hunter2x"}`
	want := `{"session_id":"11111111-1111-4111-8111-000000000001","prompt_id":"22222222-2222-4222-8222-000000000001",` +
		`"x":"33333333-3333-4333-8333-000000000001","path":"/t/11111111-1111-4111-8111-000000000001.jsonl","password":"stand-in-secret-1"}`
	assert.Equal(t, first.text(event), want)

	data, err := json.Marshal(saved)
	assert.NilError(t, err)
	for _, raw := range []string{sessionUUID, promptUUID, otherUUID, "hunter2x", "marlene"} {
		assert.Assert(t, !strings.Contains(string(data), raw), "what the recorders share holds %s", raw)
	}
	var loaded standIns
	assert.NilError(t, json.Unmarshal(data, &loaded))
	second := newSanitiser(sessionKey(sessionUUID), here, &loaded)
	assert.Equal(t, second.text("again "+otherUUID+", first c7d9e667-7425-40de-944b-e07fc1f90ae7"),
		"again 33333333-3333-4333-8333-000000000001, first 33333333-3333-4333-8333-000000000002")
	// Nothing beside it gives the password away this time.
	assert.Equal(t, second.text("it printed hunter2x twice"), "it printed stand-in-secret-1 twice")
}

func TestSanitiseCutOff(t *testing.T) {
	// A hook that prints the first 40 characters of its event prints half of an id.
	s := newTestSanitiser()
	s.text(`{"session_id":"` + sessionUUID + `","x":"` + githubKey + `"}`)
	assert.Equal(t, s.text(`{"session_id":"`+sessionUUID[:20]), `{"session_id":"11111111-1111-4111-8111-000000000001`)
	assert.Equal(t, s.text("begins with "+githubKey[:12]), "begins with stand-in-github-token-1")
	assert.Equal(t, s.text("a "+githubKey[:4]), "a ghp_")
}

func TestSanitiseOtherPlaces(t *testing.T) {
	tests := []struct {
		name       string
		at         place
		text, want string
	}{
		{"root", place{project: "/srv/shop", home: "/" + "root", user: "root"}, "/" + "root/.claude and root of /srv/shop and /srv/shop2", "/home/dev/.claude and root of /project and /srv/shop2"},
		{"nothing known", place{}, "/a/b c", "/a/b c"},
		{"home is the root", place{home: "/"}, "/a/b c", "/a/b c"},
		{"a home that begins another", place{home: "/home/al", user: "al"}, "/home/al/x /home/alice/x al alice", "/home/dev/x /home/user2/x dev alice"},
		{"macOS", place{project: "/Users/al/p", home: "/Users/al", user: "al"}, "/Users/al/p/x /Users/al/y -Users-al-p", "/project/x /home/dev/y -project"},
		{"the names of the recordings", place{project: "/project", home: "/home/dev", user: "dev"}, "/project /home/dev dev", "/project /home/dev dev"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			s := newSanitiser(sessionKey("x"), c.at, &standIns{})
			assert.Equal(t, s.text(c.text), c.want)
		})
	}
}

// TestSanitiseAnywhere plants values between arbitrary text: none survives, and the second time changes nothing.
func TestSanitiseAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := rapid.StringMatching(`[ \n(){}"'\\,;a-z0-9]{0,12}`)
		var b strings.Builder
		var raws []string
		for range rapid.IntRange(1, 4).Draw(t, "n") {
			c := rapid.SampledFrom(planted).Draw(t, "planted")
			if strings.HasPrefix(c.name, "private key") { // what follows one that is cut short goes with it
				continue
			}
			raws = append(raws, c.raw)
			b.WriteString(noise.Draw(t, "before") + "\n" + c.text + "\n")
		}
		s := newTestSanitiser()
		s.text(b.String())
		got := s.text(b.String())
		for _, raw := range raws {
			if strings.Contains(got, raw) {
				t.Fatalf("%q is left in %q, from %q", raw, got, b.String())
			}
		}
	})
}
