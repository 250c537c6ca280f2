package gauntlet

import (
	"testing"

	"gotest.tools/v3/assert"
)

// A tool that nobody knows would let every stop through: it is a fault of the configuration.
func TestToolFaults(t *testing.T) {
	t.Parallel()
	const entry = "entry_points: [{path: ., checks: [lint], reviews: [r]}]\n"
	for want, row := range map[string][2]string{
		`.gauntlet/config.yml:2: cli: default_preference: unknown tool "claud"; did you mean "claude"?`: {"cli: {default_preference: [codex, claud]}\n", "Look.\n"},
		`.gauntlet/config.yml:2: cli: default_preference: unknown tool "critic"; give it a command under cli.adapters.critic`: {
			"cli: {default_preference: [critic], adapters: {critic: {prompt: stdin}}}\n", "Look.\n",
		},
		`.gauntlet/reviews/r.md: cli_preference: unknown tool "codx"; did you mean "codex"?`: {"", "---\ncli_preference: [codx]\n---\nLook.\n"},
		`.gauntlet/config.yml:2: cli: adapters.claude.prompt: expected stdin or argument, found "pipe"`: {
			"cli: {default_preference: [claude], adapters: {claude: {prompt: pipe}}}\n", "Look.\n",
		},
		`.gauntlet/reviews/r.md:1: the front matter has no end: a line "---" is missing`: {
			"cli: {default_preference: [claude]}\n", "---\nnum_reviews: 2\nLook.\n",
		},
	} {
		_, err := configured(t, map[string]string{"config.yml": entry + row[0], "reviews/r.md": row[1], "checks/lint.yml": lintCheck})
		assert.ErrorContains(t, err, want)
	}
	_, err := configured(t, map[string]string{
		"config.yml": entry + "cli: {default_preference: [critic, gemini], adapters: {critic: {command: [x]}}}\n", "reviews/r.md": "Look.\n",
		"checks/lint.yml": lintCheck,
	})
	assert.NilError(t, err)
}

// Of two files for one check, neither may win silently.
func TestTwoFilesForOneCheck(t *testing.T) {
	t.Parallel()
	_, err := configured(t, map[string]string{
		"config.yml": "entry_points: [{path: ., checks: [lint]}]\n", "checks/lint.yml": lintCheck, "checks/lint.yaml": lintCheck,
	})
	assert.ErrorContains(t, err, ".gauntlet/checks/lint.yml: there is .gauntlet/checks/lint.yaml already: two files for one check")
}

// A number is shown as a number, not as the character of that code.
func TestNumberForAText(t *testing.T) {
	t.Parallel()
	_, err := configured(t, map[string]string{"config.yml": "entry_points: []\nbase_branch: 2024\n"})
	assert.Error(t, err, `.gauntlet/config.yml:2: base_branch: expected the name of a branch or commit, found "2024"`)
}
