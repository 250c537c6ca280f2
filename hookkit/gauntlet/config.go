package gauntlet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/config"
	"github.com/hookkit/brepl/hookkit/project"
)

// Where the configuration is, below the project's root.
const (
	configDir  = ".gauntlet"
	configName = configDir + "/config.yml"
	checksDir  = configDir + "/checks"
	reviewsDir = configDir + "/reviews"
)

// userConfigName is the user-wide file, below the home folder.
const userConfigName = ".config/agent-gauntlet/config.yml"

// Config is a checked configuration.
type Config struct {
	Root string // the project's folder, absolute; .gauntlet is in it
	Path string // config.yml, absolute

	BaseBranch      string
	baseFromGitHub  bool   // BaseBranch is GITHUB_BASE_REF
	LogDir          string // absolute
	AllowParallel   bool
	MaxRetries      int
	RerunThreshold  string   // critical, high, medium, low
	CLIPreference   []string // names of review tools, in order
	CheckUsageLimit bool
	Adapters        map[string]AdapterConfig

	StopHook StopHookConfig
	Debug    DebugConfig

	EntryPoints []EntryPoint
	Gates       []*Gate // checks, then reviews, by name

	definition string // a hash of everything that decides which gates run over what
}

// StopHookConfig is what stop_hook says.
type StopHookConfig struct {
	Enabled  bool
	Interval time.Duration
	OnActive string // allow or rerun
	Output   string // block or literal
}

// DebugConfig is what debug_log says.
type DebugConfig struct {
	Enabled bool
	MaxSize int64 // bytes
}

// EntryPoint says which gates are for which files.
type EntryPoint struct {
	Path    string   // as written: ".", a folder, "folder/*", a pattern
	Exclude []string // patterns; a folder means all that is in it
	Gates   []*Gate
}

// AdapterConfig overrides the row of a review tool in the adapter table, or adds one.
type AdapterConfig struct {
	Command    []string `yaml:"command"`
	Prompt     string   `yaml:"prompt"`      // stdin or argument
	UsageLimit []string `yaml:"usage_limit"` // texts by which a reached limit is known
	ModelFlag  string   `yaml:"model_flag"`  // the flag that precedes a model's name
}

// The file as it is written. A pointer tells a key that is not there from one that is zero.
type (
	configFile struct {
		BaseBranch    *string         `yaml:"base_branch"`
		LogDir        *string         `yaml:"log_dir"`
		AllowParallel *bool           `yaml:"allow_parallel"`
		MaxRetries    *int            `yaml:"max_retries"`
		Threshold     *string         `yaml:"rerun_new_issue_threshold"`
		CLI           cliSection      `yaml:"cli"`
		EntryPoints   []entrySection  `yaml:"entry_points"`
		StopHook      stopHookSection `yaml:"stop_hook"`
		DebugLog      debugLogSection `yaml:"debug_log"`
	}
	cliSection struct {
		DefaultPreference []string                 `yaml:"default_preference"`
		CheckUsageLimit   *bool                    `yaml:"check_usage_limit"`
		Adapters          map[string]AdapterConfig `yaml:"adapters"`
	}
	entrySection struct {
		Path    string   `yaml:"path"`
		Exclude []string `yaml:"exclude"`
		Checks  []string `yaml:"checks"`
		Reviews []string `yaml:"reviews"`
	}
	stopHookSection struct {
		Enabled  *bool   `yaml:"enabled"`
		Interval *int    `yaml:"run_interval_minutes"`
		OnActive *string `yaml:"on_active"`
		Output   *string `yaml:"output"`
	}
	debugLogSection struct {
		Enabled *bool `yaml:"enabled"`
		MaxSize *int  `yaml:"max_size_mb"`
	}
	// userFile is all that the user-wide file can hold.
	userFile struct {
		StopHook stopHookSection `yaml:"stop_hook"`
		DebugLog debugLogSection `yaml:"debug_log"`
	}
)

// Names of scalar settings.
const (
	keyBaseBranch      = "base_branch"
	keyLogDir          = "log_dir"
	keyAllowParallel   = "allow_parallel"
	keyMaxRetries      = "max_retries"
	keyThreshold       = "rerun_new_issue_threshold"
	keyCheckUsageLimit = "cli.check_usage_limit"
	keyEnabled         = "stop_hook.enabled"
	keyInterval        = "stop_hook.run_interval_minutes"
	keyOnActive        = "stop_hook.on_active"
	keyOutput          = "stop_hook.output"
	keyDebug           = "debug_log.enabled"
	keyDebugSize       = "debug_log.max_size_mb"
)

func scalarKeys() []config.Key {
	return []config.Key{
		{Name: keyBaseBranch, Default: "origin/main", Env: "GITHUB_BASE_REF", Check: notEmpty},
		{Name: keyLogDir, Default: "gauntlet_logs", Check: insideProject},
		{Name: keyAllowParallel, Default: true},
		{Name: keyMaxRetries, Default: 3, Check: atLeast(0)},
		{Name: keyThreshold, Default: "high", Check: oneOf("critical", "high", "medium", "low")},
		{Name: keyCheckUsageLimit, Default: false},
		{Name: keyEnabled, Default: true, Env: "GAUNTLET_STOP_HOOK_ENABLED"},
		{Name: keyInterval, Default: 0, Env: "GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", Check: atLeast(0)},
		{Name: keyOnActive, Default: "rerun", Check: oneOf("rerun", "allow")},
		{Name: keyOutput, Default: "block", Check: oneOf("block", "literal")},
		{Name: keyDebug, Default: false},
		{Name: keyDebugSize, Default: 10, Check: atLeast(1)},
	}
}

func oneOf(words ...string) func(any) error {
	return func(value any) error {
		if text, ok := value.(string); ok && slices.Contains(words, text) {
			return nil
		}
		return fmt.Errorf("expected %s, found %q", strings.Join(words, " or "), fmt.Sprint(value))
	}
}

func atLeast(least int) func(any) error {
	return func(value any) error {
		if n, ok := value.(int); ok && n >= least {
			return nil
		}
		return fmt.Errorf("expected a whole number of at least %d, found %v", least, value)
	}
}

func notEmpty(value any) error {
	if text, ok := value.(string); ok && text != "" && !strings.HasPrefix(text, "-") {
		return nil
	}
	return fmt.Errorf("expected the name of a branch or commit, found %q", fmt.Sprint(value))
}

// insideProject: log_dir is emptied by `clean`, so it must be a folder of its own.
func insideProject(value any) error {
	text, ok := value.(string)
	clean := filepath.ToSlash(filepath.Clean(text))
	switch {
	case !ok || text == "" || clean == ".":
		return fmt.Errorf("expected a folder of its own, found %q", fmt.Sprint(value))
	case filepath.IsAbs(text):
		return nil
	case !filepath.IsLocal(text), clean == configDir, strings.HasPrefix(clean, ".git/"), clean == ".git":
		return fmt.Errorf("expected a folder inside the project or an absolute path, found %q", fmt.Sprint(value))
	}
	return nil
}

// source is what a configuration is made from beside the project's own files.
type source struct {
	env  func(string) (string, bool)
	home string         // "" leaves the user-wide file out
	flag map[string]any // scalar settings given on the command line
}

// findRoot looks for the folder of .gauntlet/config.yml in dir, and above it in the work tree.
func findRoot(dir string) (root string, ok bool) { return project.RootWith(dir, configName) }

// loadConfig reads and checks everything under .gauntlet. All faults of all files are reported together.
func loadConfig(root string, from source) (*Config, error) {
	c := &Config{Root: root, Path: filepath.Join(root, filepath.FromSlash(configName))}
	var raw configFile
	data, err := readSettings(c.Path)
	if err != nil {
		return nil, err
	}
	faults := []error{config.Decode(rel(root, c.Path), data, &raw)}
	files := []config.File{{Path: rel(root, c.Path), Data: data}}
	if from.home != "" {
		path := filepath.Join(from.home, filepath.FromSlash(userConfigName))
		var user userFile
		text, userErr := readSettings(path)
		switch {
		case errors.Is(userErr, fs.ErrNotExist):
		case userErr != nil:
			return nil, userErr
		default:
			faults = append(faults, config.Decode(path, text, &user))
			files = append(files, config.File{Path: path, Data: text})
		}
	}
	if err = errors.Join(faults...); err != nil {
		return nil, err
	}
	values, err := config.Layers{Keys: scalarKeys(), Flags: from.flag, Env: from.env, Files: files}.Settle()
	if err != nil {
		return nil, err
	}
	c.settle(values)
	c.CLIPreference, c.Adapters = raw.CLI.DefaultPreference, raw.CLI.Adapters
	return c, c.loadGates(&raw, string(data))
}

func (c *Config) settle(v *config.Values) {
	c.BaseBranch = v.String(keyBaseBranch)
	c.baseFromGitHub = v.Origin(keyBaseBranch) == "GITHUB_BASE_REF"
	c.LogDir = v.String(keyLogDir)
	if !filepath.IsAbs(c.LogDir) {
		c.LogDir = filepath.Join(c.Root, c.LogDir)
	}
	c.AllowParallel = v.Bool(keyAllowParallel)
	c.MaxRetries = v.Int(keyMaxRetries)
	c.RerunThreshold = v.String(keyThreshold)
	c.CheckUsageLimit = v.Bool(keyCheckUsageLimit)
	c.StopHook = StopHookConfig{
		Enabled: v.Bool(keyEnabled), Interval: time.Duration(v.Int(keyInterval)) * time.Minute,
		OnActive: v.String(keyOnActive), Output: v.String(keyOutput),
	}
	c.Debug = DebugConfig{Enabled: v.Bool(keyDebug), MaxSize: int64(v.Int(keyDebugSize)) << 20}
}

// readSettings reads a file of settings, bounded.
func readSettings(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot read the configuration: %s is not a regular file", path)
	}
	if info.Size() > config.MaxBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that settings may have", path, info.Size(), config.MaxBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	return data, nil
}

// rel is a path for messages: relative to the root where it is inside.
func rel(root, path string) string {
	if short, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(short) {
		return filepath.ToSlash(short)
	}
	return path
}
