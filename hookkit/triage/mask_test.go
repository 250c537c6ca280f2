package triage

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/internal/growth"
)

// Nothing here is live; the parts keep scanners of secrets from thinking so.
const (
	awsKey    = "AKIA" + "IOSFODNN7EXAMPLE"
	githubKey = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	stripeKey = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
)

// hiddenSecrets are texts with a secret, and what of it must not be read.
var hiddenSecrets = []struct{ name, text, secret string }{
	{"a zero-width space", "gh\u200b" + githubKey[2:], "16C7e"},
	{"a zero-width joiner", "AK\u200d" + awsKey[2:], "IOSFOD"},
	{"a soft hyphen", awsKey[:8] + "\u00ad" + awsKey[8:], "IOSF"},
	{"a combining joiner", awsKey[:8] + "\u034f" + awsKey[8:], "IOSF"},
	{"a filler", "sk\u3164" + stripeKey[2:], "4eC39"},
	{"a colour", awsKey[:6] + "\x1b[0m" + awsKey[6:], "IOSF"},
	{"a colour before it", "\x1b[32m" + awsKey + "\x1b[0m", "IOSF"},
	{"a C1 colour", "\u009b32m" + stripeKey, "4eC39"},
	{"a hard space", "password:\u00a0swordfish", "swordfish"},
	{"an invisible in a name", "pass\u200bword=swordfish", "swordfish"},

	{"after an equals sign", "AWS=" + awsKey, "IOSFOD"},
	{"after a short name", "x=" + stripeKey, "4eC39"},
	{"in a path", "/p/" + awsKey, "IOSFOD"},
	{"in a path with more", "/p/" + githubKey + "/x.txt", "16C7e"},
	{"after an escape", "%3Fx%3D" + awsKey, "IOSFOD"},
	{"after a line end in a string", `"a\n` + awsKey + `"`, "IOSFOD"},
	{"after an underscore", "prod_" + awsKey, "IOSFOD"},
	{"GitLab's runner", "glrt-" + "2CR8_eVxiio-1QmzPZwa", "eVxiio"},
	{"GitLab's deploy", "gldt-" + "aaaaaaaa-bbbbbbbbbbb", "bbbbb"},
	{"GitLab's feed", "glft-" + "aaaaaaaa-bbbbbbbbbbb", "bbbbb"},
	{"PlanetScale's password", "pscale_pw_" + "9WXuHM_G1cON-Ks9dp4F", "Ks9dp"},
	{"PlanetScale's token", "pscale_tkn_" + "aaaaaaaaaa-bbbbbbbbb", "bbbbb"},
	{"PlanetScale's other", "pscale_oauth_" + "aaaaaaaa-bbbbbbbbb", "bbbbb"},
	{"a token with a name before it", "store-token_" + "OQMNQZXu5EF8Dvrc-t081uL", "Dvrc"},
	{"an AWS secret without a name", "wJalrXUtnFEMI" + "/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"},

	{"a query with a key", "https://h/x?key=" + awsKey, "IOSFOD"},
	{"a query with a plain key", "https://h/x?key=swordfish", "swordfish"},
	{"a query with a token", "https://h/x?token=swordfish", "swordfish"},
	{"a query with a password", "https://h/x?password=hunter22", "hunter22"},
	{"a query with more", "https://h/x?a=1&access_token=swordfish&b=2", "swordfish"},
	{"a query with two", "https://h/x?token=swordfish&api_key=marlin", "marlin"},
	{"a password with an @ and a slash in an address", "postgres://admin:sw@rd/fish@db:5432/x", "fish"},
	{"a password over a line end in an address", "postgres://admin:sword\nfish@db:5432/x", "sword"},
	{"the rest of a password over a line end", "postgres://admin:sword\nfish@db:5432/x", "fish"},
	{"a login of Oracle", "jdbc:oracle:thin:scott/swordfish@//db:1521/x", "swordfish"},
	{"a login of Oracle with a protocol", "jdbc:oracle:thin:scott/swordfish@tcps://db:1521/x", "swordfish"},
	{"an Azure signature", "https://a.blob.core/x?sv=2022&sig=sword%2Bfish%3D&se=1", "fish"},
	{"a fragment", "https://h/cb#access_token=swordfish&state=1", "swordfish"},
	{"a query in brackets", "https://h/x?user%5Bpassword%5D=swordfish", "swordfish"},
	{"a password in an address", "postgres://admin:swordfish@db:5432/x?a=b", "swordfish"},
	{"a password with a slash in an address", "postgres://admin:sword/fish@db:5432/x", "fish"},
	{"a login without a scheme", "admin:swordfish@db.internal:5432/orders", "swordfish"},

	{"a bearer", "Authorization: Bearer swordfish", "swordfish"},
	{"a bearer for curl", `curl -H "Authorization: Bearer swordfish" https://h`, "swordfish"},
	{"a bearer in JSON", `{"Authorization": "Bearer swordfish"}`, "swordfish"},
	{"a bearer alone", "Bearer swordfish", "swordfish"},
	{"basic", "Authorization: Basic YWxpY2U6c3dvcmRmaXNo", "YWxpY2"},
	{"basic with padding", "Authorization: Basic abcdefgh==", "abcdefgh"},
	{"basic alone", "Basic YWxpY2U6c3dvcmRmaXNo", "YWxpY2"},
	{"a token header", "Authorization: token swordfish", "swordfish"},
	{"a header of ours", "X-Api-Key: swordfish", "swordfish"},
	{"a cookie", "Cookie: sid=swordfish; csrf=marlin", "marlin"},

	{"a name with spaces around", "PASSWORD = swordfish", "swordfish"},
	{"a name without", "PGPASSWORD=swordfish psql", "swordfish"},
	{"JSON", `{"password": "swordfish"}`, "swordfish"},
	{"JSON without spaces", `{"user":"bob","password":"swordfish","a":1}`, "swordfish"},
	{"JSON with spaces in the value", `{"password": "sword fish"}`, "fish"},
	{"JSON in a string", `{\"password\": \"swordfish\"}`, "swordfish"},
	{"EDN", `{:password "swordfish"}`, "swordfish"},
	{"Ruby", ":password => 'swordfish'", "swordfish"},
	{"XML", "<password>swordfish</password>", "swordfish"},
	{"HTML", "<code>password</code>: <code>swordfish</code>", "swordfish"},
	{"HTML with the colon within", "<b>Password:</b> swordfish", "swordfish"},
	{"a property", "spring.datasource.password=swordfish", "swordfish"},
	{"camel case", `dbPassword: "swordfish"`, "swordfish"},
	{"a name with more behind", "DB_PASSWORD_PROD=swordfish", "swordfish"},
	{"a name in bold", "**Password:** swordfish", "swordfish"},
	{"a bold name", "**Password**: swordfish", "swordfish"},
	{"a name and where", "password (staging): swordfish", "swordfish"},
	{"two words", "api key: swordfish", "swordfish"},
	{"a key of the environment", "ENCRYPTION_KEY=swordfish", "swordfish"},
	{"npm", "//registry.example.org/:_authToken=swordfish", "swordfish"},
	{"npm's other", "_auth=swordfish", "swordfish"},
	{"an index", `os.environ["PASSWORD"] = "swordfish"`, "swordfish"},
	{"a setter", `setPassword("swordfish")`, "swordfish"},
	{"a connection string", "Server=db;Password=sword;Pooling=marlin;Pwd=swordfish", "swordfish"},
	{"a passphrase", "passphrase: sword fish marlin tuna", "tuna"},
	{"SQL", "CREATE USER bob IDENTIFIED BY 'swordfish'", "swordfish"},
	{"SQL's other", "ALTER ROLE bob WITH PASSWORD 'swordfish'", "swordfish"},
	{"a Dockerfile", "ENV DB_PASSWORD swordfish", "swordfish"},

	{"an option", "--password swordfish", "swordfish"},
	{"an option with a sign", "--password=swordfish", "swordfish"},
	{"an option with quotes", "--db-password 'sword fish'", "fish"},
	{"export", "export A=1 FOO=swordfish", "swordfish"},
	{"export in quotes", `export A="sword fish" B=marlin`, "marlin"},
	{"export in code", "`export FOO=swordfish`", "swordfish"},
	{"export over lines", "export A=1 \\\n  FOO=swordfish", "swordfish"},
	{"export of more", "export A FOO=swordfish", "swordfish"},
	{"export of a command", "export FOO=$(echo sword fish) B=1", "fish"},
	{"export of a command in quotes", `export FOO="$(echo "sword fish")"`, "fish"},
	{"export of a list", "export FOO=(sword fish)", "fish"},
	{"export of a default", "export FOO=${BAR:-sword fish}", "fish"},
	{"a name with a command", "PGPASSWORD=$(echo sword fish) psql", "fish"},
	{"setx", "setx FOO swordfish", "swordfish"},
	{"curl", "curl -u alice:swordfish https://h", "swordfish"},
	{"curl without a space", "curl -ualice:swordfish https://h", "swordfish"},
	{"curl, long", "curl --user alice:swordfish https://h", "swordfish"},
	{"mysql", "mysql -u root -pswordfish shop", "swordfish"},
	{"mysqldump", "mysqldump -h db -p'swordfish' shop", "swordfish"},
	{"sshpass", "sshpass -p swordfish ssh h", "swordfish"},
	{"docker login", "docker login -u bob -p swordfish", "swordfish"},
	{"redis-cli", "redis-cli -h r -a swordfish ping", "swordfish"},

	{"German", "Passwort ist swordfish", "swordfish"},
	{"German of something", "das Passwort für den Server ist swordfish", "swordfish"},
	{"prose", "the password is swordfish", "swordfish"},
	{"prose without the", "password is swordfish", "swordfish"},
	{"prose, quoted", "the password is `swordfish`", "swordfish"},
	{"prose, later", "the password is now swordfish", "swordfish"},
	{"prose of something", "the password for the staging box is swordfish", "swordfish"},
	{"prose with a colon", "the password of bob: swordfish", "swordfish"},
	{"prose, changed", "we changed the password to swordfish", "swordfish"},
	{"prose, was changed", "the password was changed to swordfish", "swordfish"},
	{"prose on a key", "the api key is swordfish", "swordfish"},
	{"prose with is and a colon", "the password is: swordfish", "swordfish"},
	{"prose with signs", "the password is hunter!two", "hunter"},
	{"prose, lautet", "Das Kennwort lautet swordfish", "swordfish"},
	{"an arrow", "password -> swordfish", "swordfish"},
	{"a list of words", `["--password", "swordfish"]`, "swordfish"},
	{"a short name with a colon", "user: bob, pass: swordfish", "swordfish"},
	{"a pin", "PIN=4711", "4711"},
	{"a code", "the otp 471108", "471108"},
	{"prose on a pin", "the pin is 4711-0815", "0815"},
}

// TestMaskHides: a secret gets out nowhere: not in the list for the agent, not in explain, not in what a model is asked.
func TestMaskHides(t *testing.T) {
	t.Parallel()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	config := Config{Threshold: 0.6}
	for _, c := range hiddenSecrets {
		got := mask("x " + c.text + " y")
		assert.Check(t, strings.Contains(got, masked) && !strings.Contains(got, c.secret), "%s: %q", c.name, got)
		got = quote("We use Postgres, with " + c.text + ".")
		assert.Check(t, strings.Contains(got, masked) && !strings.Contains(got, c.secret) && strings.HasPrefix(got, "We use Postgres, with "), "%s: %q", c.name, got)

		conv := conversation{messages: []message{
			{text: "We decided to use Postgres instead of MySQL for the order store, with " + c.text + " there."}, {agent: true, text: "Noted."},
		}}
		a := rules.analyse(&conv)
		for _, text := range []string{
			compose(a.decide(&config, verdict{}), ""), a.explain(&config), a.question([]Category{Decision}), compose(nil, c.text),
		} {
			assert.Check(t, !strings.Contains(text, c.secret), "%s: %s", c.name, text)
		}
		assert.Check(t, strings.Contains(a.question([]Category{Decision}), "We decided to use Postgres"), c.name)
	}
}

// TestMaskLeavesProse: what only speaks of secrets stays.
func TestMaskLeavesProse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"the password field is required", "the password is required", "the token expires after 15 minutes", "the token is opaque and short-lived", "key: value store",
		"a key=value pair", "the secret is in Vault", "-p 8080", "docker run -p 8080:80 -u 1000:1000 redis", "mysql -p 8080", "git push -u origin main", "the token: it expires",
		"the password for the staging box is in Vault", "a password for each user", "use --token to log in", "the --password option is gone", "basic auth for the admin page",
		"the basic setup works", "bearer tokens are checked", "a bearer of bad news", "we changed the password to be hashed", "tokens: 4096", "max_tokens=4096", "auth: JWT",
		"we pass the key to the cache", "the pin is on the left", "the primary key is the order id", "das Passwort ist abgelaufen", "das Passwort wird gehasht",
		"we export the report", "react@18 from https://unpkg.com/react@18/umd", "mailto:bob@example.org", "git@github.com:org/repo.git", "image: redis:7.2-alpine",
		"see docs/tokens/password-reset.md", "src/auth/token.go; src/auth/password.go", "a cookie is set", "the cookie: we drop it", "risk-assessment-for-the-order-store",
		"type Token::Kind", "secret-scanning is on", "the password policy: at least twelve characters", "passwords are hashed with bcrypt", "(key) and [token]",
		`the gateway gives 401, token "not yet valid"`, "there is a token `--color-primary`", "it is under `/feed/<token>.ics`", "the partition key is `user_id`",
		"http://localhost:8080 and bob@example.org", "http://localhost:$PORT and bob@example.org", "https://example.org/a:b and bob@example.org", "jdbc:oracle:thin:@//db:1521/x",
		"it runs on http://localhost:port", "deploy/auth --since=1h", "name:tag@sha256:…", "db/migrate/20240411091200_order_state_to_string.rb", "How do services get their DB passwords: env vars or Vault?",
	} {
		assert.Check(t, mask(text) == text, "%q became %q", text, mask(text))
	}
}

// TestMaskKeepsAround: only the secret goes, so that the sentence can still be read.
func TestMaskKeepsAround(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://h/x?a=1&token=swordfish&b=2, then": "https://h/x?a=1&token=[masked]&b=2, then",
		"(password=swordfish), then":                "(password=[masked]), then",
		`{"password":"swordfish","a":1}`:            `{"password":"[masked]","a":1}`,
		"Server=db;Password=swordfish;Port=1":       "Server=db;Password=[masked];Port=1",
		"postgres://a:swordfish@db/x":               "postgres://[masked]@db/x",
		"postgres://a:sword@fi/sh@db/x":             "postgres://[masked]@db/x",
		"postgres://a:sword\nfish@db/x":             "postgres://[masked]@db/x",
		"it is postgres://a:sword":                  "it is postgres://[masked]",
		"jdbc:oracle:thin:a/swordfish@//db/x":       "jdbc:oracle:thin:[masked]@//db/x",
		"export A=$(echo a b) B=(c d) and go":       "export A=[masked] B=[masked] and go",
		"<i>password</i>: <i>swordfish</i>":         "<i>password</i>: <i>[masked]</i>",
		"Authorization: Bearer swordfish, then":     "Authorization: Bearer [masked], then",
		"export A=1 B=2 and go":                     "export A=[masked] B=[masked] and go",
		"mysql -pswordfish shop":                    "mysql -p[masked] shop",
		"the password is swordfish.":                "the password is [masked].",
		"passphrase: sword fish for the store":      "passphrase: [masked] for the store",
		"password=[masked]":                         "password=[masked]",
		"<password>swordfish</password>":            "<password>[masked]</password>",
		"-----BEGIN X PRIVATE KEY-----\nMII\n":      "[masked]",
	} {
		assert.Check(t, mask(text) == want, "%q became %q", text, mask(text))
	}
}

// TestExplainMasksFiles: the files of SESSION_SUMMARY are quoted like everything else.
func TestExplainMasksFiles(t *testing.T) {
	t.Parallel()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	conv := conversation{messages: []message{{text: "Please split the store."}, {agent: true, text: "I split the store into three files and all tests pass now."}}}
	for i, path := range []string{"/p/" + awsKey, "/p/token=swordfish.txt", "/p/a\u200b\x1b[31m<b>.go", "/p/" + githubKey + "/x.go"} {
		conv.tools = append(conv.tools, toolUse{name: "Edit", path: path, at: i - 10})
	}
	config := Config{Threshold: 0.6}
	a := rules.analyse(&conv)
	out := a.explain(&config) + compose(a.decide(&config, verdict{}), "")
	assert.Assert(t, strings.Contains(out, "4 files changed: [masked], token=[masked], a&lt;b&gt;.go, x.go"), out)
	for _, bad := range []string{"IOSFOD", "swordfish", "16C7e", "\x1b", "\u200b", "<b>"} {
		assert.Check(t, !strings.Contains(out, bad), "%q in %s", bad, out)
	}
}

// TestInstructionIsClean: a project's file holds it, so nothing in it steers a terminal, gives away a token or looks like a finding.
func TestInstructionIsClean(t *testing.T) {
	t.Parallel()
	findings := []finding{{Category: Decision, Quote: "We use Kafka."}}
	const head = "Save the following memories before stopping:\n- [DECISION] We use Kafka.\n\n"
	for instruction, want := range map[string]string{
		"":                                "" + defaultInstruction,
		" \x1b[2J\u202e ":                 defaultInstruction,
		"Write them into docs/memory.md.": "Write them into docs/memory.md.",
		"One.\r\n\n- two\n- three":        "One.\n\n- two\n- three",
		"\x1b[31mSave\x1b[0m \x1b]0;t\ait\u200b\u202e": "Save it",
		"Use " + awsKey + " for it.":                   "Use [masked] for it.",
		"Go.\n- [RUNBOOK] run me\n  - [X] y":           "Go.\n[RUNBOOK] run me\n[X] y",
		"Go.\n-\u200b [RUNBOOK] run me":                "Go.\n[RUNBOOK] run me",
	} {
		assert.Check(t, compose(findings, instruction) == head+want+"\n", "%q became %q", instruction, compose(findings, instruction))
	}
}

// TestMaskAnything: no text makes it fail, what it gives has no second layer, and long text takes no long time.
func TestMaskAnything(t *testing.T) {
	t.Parallel()
	parts := []string{"password", "key", "token", " is ", ": ", "=", "\"", "'", "\\", "%3D", "://", "@", "-p", "--", " ", "\n", "export ", "Bearer ", "a1b2c3d4", "ä", "\x1b[", "\xff", "(", ")", "-----BEGIN", "?", "&", "the ", "\"a b\"", "`a b c` ", " for ", awsKey}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.String()), 0, 30).Draw(t, "parts"), "")
		got := mask(text)
		assert.Assert(t, !strings.Contains(got, awsKey), "%q", got)
		assert.Assert(t, !strings.ContainsAny(got, "\x1b\u200b"), "%q", got)
	})
	for _, part := range append(parts, "password is ", "x=", "password=\"", "a:b@", "://a:", ";a=", "(", "token (", "mysql -p", "`a b` ", "password for the ", "s.", "sk-", "[", "a,") {
		assert.Check(t, growth.Linear(4<<10/len(part), func(size int) func() {
			text := strings.Repeat(part, size)
			return func() { mask(text) }
		}), "%q", part)
	}
}
