package gauntlet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// configured writes files under .gauntlet and loads them.
func configured(t *testing.T, files map[string]string, env ...string) (*Config, error) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, configDir, filepath.FromSlash(name))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return loadConfig(root, source{env: func(name string) (string, bool) {
		for _, entry := range env {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}})
}

const everything = `# all keys
base_branch: develop
log_dir: build/gauntlet
allow_parallel: false
max_retries: 0
rerun_new_issue_threshold: low
cli:
  default_preference: [codex, claude]
  check_usage_limit: true
  adapters:
    mine: {command: [my-tool, -p], prompt: argument, usage_limit: [too much], model_flag: -m}
entry_points:
  - path: .
    exclude: ["docs/**", vendor]
    checks: [lint]
  - path: apps/*
    checks: [lint]
    reviews: [bugs]
stop_hook:
  enabled: false
  run_interval_minutes: 7
  on_active: allow
  output: literal
debug_log: {enabled: true, max_size_mb: 2}
`

const lintCheck = "command: make lint\n"

func TestConfigAllKeys(t *testing.T) {
	t.Parallel()
	c, err := configured(t, map[string]string{
		"config.yml": everything,
		"checks/lint.yml": "command: make lint\nworking_directory: apps\nparallel: true\nrun_locally: false\nrun_in_ci: false\ntimeout: 1.5\n" +
			"fail_fast: true\nfix_instructions: how/to.md\ncannot_run: block\n",
		"how/to.md": "\nRead this.\n",
		"reviews/bugs.md": "---\ncli_preference: [claude]\nnum_reviews: 2\nparallel: false\nrun_locally: true\nrun_in_ci: false\ntimeout: 60\nmodel: best\n" +
			"cannot_run: allow\n---\n\nFind bugs.\n\n---\nand more\n",
	})
	assert.NilError(t, err)
	assert.Equal(t, c.BaseBranch, "develop")
	assert.Equal(t, c.LogDir, filepath.Join(c.Root, "build/gauntlet"))
	assert.Equal(t, c.AllowParallel, false)
	assert.Equal(t, c.MaxRetries, 0)
	assert.Equal(t, c.RerunThreshold, "low")
	assert.DeepEqual(t, c.CLIPreference, []string{"codex", "claude"})
	assert.Equal(t, c.CheckUsageLimit, true)
	assert.DeepEqual(t, c.Adapters, map[string]AdapterConfig{
		"mine": {Command: []string{"my-tool", "-p"}, Prompt: "argument", UsageLimit: []string{"too much"}, ModelFlag: "-m"},
	})
	assert.DeepEqual(t, c.StopHook, StopHookConfig{Enabled: false, Interval: 7 * time.Minute, OnActive: "allow", Output: "literal"})
	assert.DeepEqual(t, c.Debug, DebugConfig{Enabled: true, MaxSize: 2 << 20})
	lint, bugs := c.gate(Check, "lint"), c.gate(Review, "bugs")
	assert.DeepEqual(t, lint.CheckSpec, CheckSpec{Command: "make lint", WorkingDirectory: "apps", FailFast: true, FixInstructions: "Read this."})
	assert.Equal(t, lint.Timeout, 1500*time.Millisecond)
	assert.Assert(t, lint.Parallel && !lint.RunLocally && !lint.RunInCI && lint.CannotRun == CannotRunBlocks)
	assert.DeepEqual(t, bugs.ReviewSpec, ReviewSpec{Instructions: "Find bugs.\n\n---\nand more", CLIPreference: []string{"claude"}, NumReviews: 2, Model: "best"})
	assert.Assert(t, !bugs.Parallel && bugs.RunLocally && !bugs.RunInCI && bugs.Timeout == time.Minute)
	assert.Equal(t, len(c.EntryPoints), 2)
	assert.Equal(t, c.EntryPoints[1].Gates[1], bugs)
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	c, err := configured(t, map[string]string{
		"config.yml": "entry_points: [{path: ./src/, checks: [lint]}]\n", "checks/lint.yml": lintCheck, "reviews/unused.md": "Look.\n",
	})
	assert.NilError(t, err)
	assert.Equal(t, c.BaseBranch, "origin/main")
	assert.Equal(t, c.LogDir, filepath.Join(c.Root, "gauntlet_logs"))
	assert.Equal(t, c.MaxRetries, 3)
	assert.Equal(t, c.RerunThreshold, "high")
	assert.Assert(t, c.AllowParallel && !c.CheckUsageLimit)
	assert.DeepEqual(t, c.StopHook, StopHookConfig{Enabled: true, OnActive: "rerun", Output: "block"})
	assert.DeepEqual(t, c.Debug, DebugConfig{MaxSize: 10 << 20})
	assert.Equal(t, c.EntryPoints[0].Path, "src")
	lint, unused := c.gate(Check, "lint"), c.gate(Review, "unused")
	assert.Assert(t, !lint.Parallel && lint.RunLocally && lint.RunInCI && lint.CannotRun == CannotRunAllows && lint.Timeout == defaultCheckTimeout)
	assert.Assert(t, unused.Parallel && unused.RunLocally && unused.RunInCI && unused.NumReviews == 1 && unused.Timeout == defaultReviewTimeout)
}

// Each row is a configuration with one fault, and what is said of it.
func TestConfigFaults(t *testing.T) {
	t.Parallel()
	const entry = "entry_points: [{path: ., checks: [lint]}]\n"
	for _, row := range []struct{ title, name, text, want string }{
		{"an unknown key", "config.yml", entry + "max_retry: 1\n", `.gauntlet/config.yml:2: unknown key "max_retry"; did you mean "max_retries"?`},
		{"an unknown key below", "config.yml", entry + "stop_hook:\n  outptu: block\n", `.gauntlet/config.yml:3: unknown key "outptu"; did you mean "output"?`},
		{"a key given twice", "config.yml", entry + "max_retries: 1\nmax_retries: 2\n", `.gauntlet/config.yml:3: key "max_retries" stands here a second time; the first is in line 2`},
		{"a wrong type", "config.yml", entry + "max_retries: many\n", `.gauntlet/config.yml:2: expected a whole number, found "many"`},
		{"a list for a text", "config.yml", entry + "log_dir: [a]\n", `.gauntlet/config.yml:2: expected a text, found a list`},
		{"no YAML", "config.yml", "a: [\n", ".gauntlet/config.yml:1: not YAML: did not find expected node content"},
		{"two documents", "config.yml", entry + "---\nmax_retries: 1\n", ".gauntlet/config.yml:2: a second document; settings are one"},
		{"empty", "config.yml", "", ".gauntlet/config.yml: entry_points is missing"},
		{"out of range", "config.yml", entry + "max_retries: -1\n", ".gauntlet/config.yml:2: max_retries: expected a whole number of at least 0, found -1"},
		{"no such word", "config.yml", entry + "stop_hook:\n  on_active: maybe\n", `.gauntlet/config.yml:3: stop_hook.on_active: expected rerun or allow, found "maybe"`},
		{"log_dir is the project", "config.yml", entry + "log_dir: ./\n", `.gauntlet/config.yml:2: log_dir: expected a folder of its own, found "./"`},
		{"log_dir outside", "config.yml", entry + "log_dir: ../x\n", `.gauntlet/config.yml:2: log_dir: expected a folder inside the project or an absolute path, found "../x"`},
		{"a base that is a flag", "config.yml", entry + "base_branch: --output=x\n", `.gauntlet/config.yml:2: base_branch: expected the name of a branch or commit, found "--output=x"`},
		{"an unknown check", "config.yml", "entry_points:\n  - path: .\n    checks: [lnit]\n", `.gauntlet/config.yml:2: entry point ".": unknown check "lnit"; did you mean "lint"?`},
		{"an unknown review", "config.yml", "entry_points:\n  - path: .\n    reviews: [bugs]\n", `.gauntlet/config.yml:2: entry point ".": unknown review "bugs": there is no .gauntlet/reviews/bugs.md`},
		{"a path outside", "config.yml", "entry_points:\n  - path: ../x\n", `.gauntlet/config.yml:2: entry point "../x": "../x" leads outside of the project`},
		{"a malformed pattern", "config.yml", "entry_points:\n  - path: 'a/[b'\n", `.gauntlet/config.yml:2: entry point "a/[b": "a/[b" is a malformed pattern`},
		{"a check without a command", "checks/lint.yml", "parallel: true\n", `.gauntlet/checks/lint.yml: command is missing: a check needs one`},
		{"a misspelt key of a check", "checks/lint.yml", "command: x\ntime_out: 3\n", `.gauntlet/checks/lint.yml:2: unknown key "time_out"; did you mean "timeout"?`},
		{"a timeout of 0", "checks/lint.yml", "command: x\ntimeout: 0\n", `.gauntlet/checks/lint.yml:2: timeout: expected seconds, more than 0 and at most a day, found 0`},
		{"a timeout that is no number", "checks/lint.yml", "command: x\ntimeout: .nan\n", `.gauntlet/checks/lint.yml:2: timeout: expected seconds, more than 0 and at most a day, found NaN`},
		{"cannot_run", "checks/lint.yml", "command: x\ncannot_run: ignore\n", `.gauntlet/checks/lint.yml:2: cannot_run: expected block or allow, found "ignore"`},
		{"working_directory outside", "checks/lint.yml", "command: x\nworking_directory: /etc\n", `.gauntlet/checks/lint.yml:2: working_directory: expected a folder of the project, found "/etc"`},
		{"no fix_instructions", "checks/lint.yml", "command: x\nfix_instructions: gone.md\n", `.gauntlet/checks/lint.yml:2: fix_instructions: there is no file .gauntlet/gone.md`},
		{"a review without a body", "reviews/r.md", "---\nnum_reviews: 1\n---\n", `.gauntlet/reviews/r.md: the body is empty: it is the reviewer's instructions`},
		{"a misspelt key of a review", "reviews/r.md", "---\n\nnum_review: 1\n---\nx\n", `.gauntlet/reviews/r.md:3: unknown key "num_review"; did you mean "num_reviews"?`},
		{"no reviews at all", "reviews/r.md", "---\nnum_reviews: 0\n---\nx\n", `.gauntlet/reviews/r.md:2: num_reviews: expected a whole number of at least 1, found 0`},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"config.yml": entry, "checks/lint.yml": lintCheck}
			files[row.name] = row.text
			_, err := configured(t, files)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestConfigReviewsNeedATool(t *testing.T) {
	t.Parallel()
	_, err := configured(t, map[string]string{"config.yml": "entry_points:\n  - path: .\n    reviews: [r]\n", "reviews/r.md": "x\n"})
	assert.Error(t, err, `.gauntlet/config.yml:2: cli.default_preference is missing: review "r" needs a tool`)
}

func TestConfigAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := configured(t, map[string]string{
		"config.yml": "entry_points:\n  - path: .\n    checks: [a, b]\n", "checks/a.yml": "comand: x\n", "checks/b.yml": "timeout: [1]\n",
	})
	assert.Error(t, err, `.gauntlet/checks/a.yml:1: unknown key "comand"; did you mean "command"?
.gauntlet/checks/b.yml:1: expected a number, found a list
.gauntlet/config.yml:2: entry point ".": check "a" cannot be used: its file is faulty
.gauntlet/config.yml:2: entry point ".": check "b" cannot be used: its file is faulty`)
}

func TestConfigTooLarge(t *testing.T) {
	t.Parallel()
	_, err := configured(t, map[string]string{"config.yml": strings.Repeat("# x\n", 300_000)})
	assert.ErrorContains(t, err, "more than the 1048576 that settings may have")
}

func TestConfigBOMAndCRLF(t *testing.T) {
	t.Parallel()
	c, err := configured(t, map[string]string{
		"config.yml":      "\ufeffentry_points:\r\n  - path: .\r\n    checks: [lint]\r\n    reviews: [r]\r\ncli:\r\n  default_preference: [claude]\r\n",
		"checks/lint.yml": "command: x\r\n",
		"reviews/r.md":    "\ufeff---\r\nnum_reviews: 2\r\n---\r\nLook.\r\n",
	})
	assert.NilError(t, err)
	assert.Equal(t, c.gate(Review, "r").NumReviews, 2)
	assert.Equal(t, c.gate(Check, "lint").Command, "x")
}

func TestGitHubBaseRef(t *testing.T) {
	t.Parallel()
	files := map[string]string{"config.yml": "base_branch: x\nentry_points: [{path: ., checks: [lint]}]\n", "checks/lint.yml": lintCheck}
	c, err := configured(t, files, "GITHUB_BASE_REF=release")
	assert.NilError(t, err)
	assert.Assert(t, c.BaseBranch == "release" && c.baseFromGitHub)
	c, err = configured(t, files, "GITHUB_BASE_REF=")
	assert.NilError(t, err)
	assert.Assert(t, c.BaseBranch == "x" && !c.baseFromGitHub)
}
