package secret

import "strings"

// Kinds of services whose tokens begin with a head of their own.
const (
	AnthropicKey      Kind = "anthropic-key"
	AtlassianToken    Kind = "atlassian-token"
	AWSKey            Kind = "aws-key"
	BrevoKey          Kind = "brevo-key"
	DigitalOceanToken Kind = "digitalocean-token"
	DockerToken       Kind = "docker-token"
	FacebookToken     Kind = "facebook-token"
	GitHubToken       Kind = "github-token"
	GitLabToken       Kind = "gitlab-token"
	GoogleKey         Kind = "google-key"
	GrafanaToken      Kind = "grafana-token"
	HuggingFaceToken  Kind = "huggingface-token"
	LinearKey         Kind = "linear-key"
	MailgunKey        Kind = "mailgun-key"
	NewRelicKey       Kind = "newrelic-key"
	NPMToken          Kind = "npm-token"
	OpenAIKey         Kind = "openai-key"
	OpenRouterKey     Kind = "openrouter-key"
	PlanetScaleToken  Kind = "planetscale-token"
	PostmanKey        Kind = "postman-key"
	PyPIToken         Kind = "pypi-token"
	SendGridKey       Kind = "sendgrid-key"
	ShopifyToken      Kind = "shopify-token"
	SlackToken        Kind = "slack-token"
	SquareToken       Kind = "square-token"
	StripeKey         Kind = "stripe-key"
	TwilioKey         Kind = "twilio-key"
	VaultToken        Kind = "vault-token"
)

// demand is what a head asks of the token behind it, because it begins ordinary words too.
type demand int

const (
	nothing  demand = iota
	capitals        // capitals and digits only
	digits          // a digit; and it begins a word
	oneRun          // digits, or no dash in it; and it begins a word
)

// heads begin tokens of known services; least is how many characters of a token must follow. Of two heads the longer one stands first.
var heads = [...]struct {
	head   string
	least  int
	kind   Kind
	demand demand
}{
	{"sk-ant-", 8, AnthropicKey, nothing},
	{"ATATT", 12, AtlassianToken, nothing},
	{"AKIA", 12, AWSKey, capitals},
	{"ASIA", 12, AWSKey, capitals},
	{"AGPA", 16, AWSKey, capitals},
	{"AIDA", 16, AWSKey, capitals},
	{"AROA", 16, AWSKey, capitals},
	{"ANPA", 16, AWSKey, capitals},
	{"xkeysib-", 8, BrevoKey, nothing},
	{"dop_v1_", 12, DigitalOceanToken, nothing},
	{"doo_v1_", 12, DigitalOceanToken, nothing},
	{"dor_v1_", 12, DigitalOceanToken, nothing},
	{"dckr_pat_", 8, DockerToken, nothing},
	{"EAAC", 20, FacebookToken, digits},
	{"ghp_", 16, GitHubToken, nothing},
	{"gho_", 16, GitHubToken, nothing},
	{"ghu_", 16, GitHubToken, nothing},
	{"ghs_", 16, GitHubToken, nothing},
	{"ghr_", 16, GitHubToken, nothing},
	{"github_pat_", 16, GitHubToken, nothing},
	{"glpat-", 12, GitLabToken, nothing},
	{"gldt-", 12, GitLabToken, nothing},
	{"glrt-", 12, GitLabToken, nothing},
	{"glrtr-", 12, GitLabToken, nothing},
	{"glft-", 12, GitLabToken, nothing},
	{"glffct-", 12, GitLabToken, nothing},
	{"glptt-", 12, GitLabToken, nothing},
	{"glcbt-", 12, GitLabToken, nothing},
	{"glimt-", 12, GitLabToken, nothing},
	{"glwt-", 12, GitLabToken, nothing},
	{"gloas-", 12, GitLabToken, nothing},
	{"glsoat-", 12, GitLabToken, nothing},
	{"glagent-", 12, GitLabToken, digits},
	{"GR1348941", 12, GitLabToken, nothing},
	{"AIza", 20, GoogleKey, nothing},
	{"ya29.", 10, GoogleKey, nothing},
	{"GOCSPX-", 8, GoogleKey, nothing},
	{"glsa_", 8, GrafanaToken, nothing},
	{"hf_", 12, HuggingFaceToken, nothing},
	{"eyJ", 20, JWT, nothing},
	{"lin_api_", 8, LinearKey, nothing},
	{"key-", 24, MailgunKey, digits},
	{"NRAK-", 8, NewRelicKey, nothing},
	{"npm_", 16, NPMToken, nothing},
	{"sk-or-", 8, OpenRouterKey, nothing},
	{"sk-proj-", 8, OpenAIKey, nothing},
	{"sk-", 16, OpenAIKey, oneRun},
	{"pscale_pw_", 12, PlanetScaleToken, nothing},
	{"pscale_tkn_", 12, PlanetScaleToken, nothing},
	{"pscale_oauth_", 12, PlanetScaleToken, nothing},
	{"PMAK-", 8, PostmanKey, nothing},
	{"pypi-", 12, PyPIToken, digits},
	{"SG.", 16, SendGridKey, oneRun},
	{"shpat_", 12, ShopifyToken, nothing},
	{"shpss_", 12, ShopifyToken, nothing},
	{"xoxa-", 8, SlackToken, nothing},
	{"xoxb-", 8, SlackToken, nothing},
	{"xoxe-", 8, SlackToken, nothing},
	{"xoxo-", 8, SlackToken, nothing},
	{"xoxp-", 8, SlackToken, nothing},
	{"xoxr-", 8, SlackToken, nothing},
	{"xoxs-", 8, SlackToken, nothing},
	{"xapp-", 8, SlackToken, nothing},
	{"sq0atp-", 8, SquareToken, nothing},
	{"sq0csp-", 8, SquareToken, nothing},
	{"sk_live_", 8, StripeKey, nothing},
	{"sk_test_", 8, StripeKey, nothing},
	{"rk_live_", 8, StripeKey, nothing},
	{"rk_test_", 8, StripeKey, nothing},
	{"pk_live_", 8, StripeKey, nothing},
	{"whsec_", 8, StripeKey, nothing},
	{"AC", 32, TwilioKey, digits},
	{"SK", 32, TwilioKey, digits},
	{"hvs.", 8, VaultToken, nothing},
	{"s.", 24, VaultToken, digits},
}

// tokens finds tokens of known services, wherever in a word they begin.
func (s *scanner) tokens() {
	text := s.text
	// Of the heads that begin with a byte: the first one, and after each the next one. Both count from 1.
	var first [128]uint8
	var next [len(heads)]uint8
	for i := len(heads) - 1; i >= 0; i-- {
		c := heads[i].head[0]
		next[i], first[c] = first[c], uint8(i+1)
	}
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 {
			continue
		}
		for k := first[text[i]]; k > 0; k = next[k-1] {
			if end := s.tokenAt(i, int(k-1)); end > i {
				s.hide(heads[k-1].kind, i, end)
				i = end - 1
				break
			}
		}
	}
}

// tokenAt is where the token ends that begins at i with a head; 0 if none does.
func (s *scanner) tokenAt(i, k int) int {
	text, h := s.text, &heads[k]
	if !strings.HasPrefix(text[i:], h.head) {
		return 0
	}
	word := h.demand == digits || h.demand == oneRun
	if word && i > 0 && strings.IndexByte("-_.", text[i-1]) >= 0 {
		return 0
	}
	start := i + len(h.head)
	end := s.tokenEnd(start)
	hasDigit := s.digitIn(start, end)
	if glued := i > 0 && letterOrDigit(text[i-1]) && !escaped(text, i); glued && (word || len(h.head) < 4 || h.kind == NPMToken || !hasDigit) { // pnpm_config_…
		return 0
	}
	switch {
	case h.kind == JWT && end-start < h.least:
		if strings.Count(text[start:end], ".") < 2 || end-start < 9 {
			return 0
		}
	case end-start < h.least:
		return 0
	case h.demand == digits && !hasDigit, h.demand == oneRun && !hasDigit && strings.ContainsAny(text[start:end], "-_"):
		return 0
	case h.demand == capitals && strings.ToUpper(text[start:start+h.least]) != text[start:start+h.least]:
		return 0
	}
	for end < len(text) && (tokenByte(text[end]) || strings.IndexByte("+/=~%", text[end]) >= 0) {
		end++
	}
	return end
}

// tokenEnd is where the characters of a token end that go on from i; a dot may stand between them.
func (s *scanner) tokenEnd(i int) int {
	if !s.token.holds(i) {
		end := i
		for end < len(s.text) && (tokenByte(s.text[end]) || s.text[end] == '.' && end+1 < len(s.text) && tokenByte(s.text[end+1])) {
			end++
		}
		s.token = ahead{i, end}
	}
	return s.token.at
}

// digitIn says whether a part of the text has a digit.
func (s *scanner) digitIn(from, to int) bool {
	if !s.digit.holds(from) {
		s.digit = ahead{from, from}
	}
	for s.digit.at < to && !digit(s.text[s.digit.at]) {
		s.digit.at++
	}
	return s.digit.at < to
}

// escaped says whether what stands before i belongs to an escape: %3D, \n.
func escaped(text string, i int) bool {
	return i >= 3 && text[i-3] == '%' || i >= 2 && text[i-2] == '\\'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

func lower(c byte) bool { return c >= 'a' && c <= 'z' }

func letterOrDigit(c byte) bool { return lower(c|0x20) || digit(c) }

func tokenByte(c byte) bool { return letterOrDigit(c) || c == '_' || c == '-' }

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
