package hooksedn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads and checks the configuration of the project in dir. All errors are reported at once, as a *ConfigError; another error says
// that the file cannot be read, or is not to be believed.
func Load(dir string) (*Config, error) {
	config, err := load(dir, "its hooks are not run")
	if err != nil {
		return nil, err
	}
	return config, nil
}

// LoadForEdits is Load for the edit hooks, which need only [Config.Exclude] and [Config.Eval]: faults of the file are not their business, and
// what has no fault counts. The configuration is empty with an error.
func LoadForEdits(dir string) (*Config, error) {
	config, err := load(dir, "what it excludes does not count")
	if _, faulty := errors.AsType[*ConfigError](err); err != nil && !faulty {
		return &Config{}, err
	}
	return config, nil
}

// load gives what could be read with a *ConfigError. so says what follows for a file that is not believed.
func load(dir, so string) (*Config, error) {
	path := filepath.Join(dir, Path)
	data, err := read(path, so)
	if _, fromOS := errors.AsType[*fs.PathError](err); fromOS {
		err = fmt.Errorf("cannot read the hooks: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return parse(path, dir, data)
}

// read gives a file that may be believed; so is for a [distrustError].
func read(path, so string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err = checkTrust(path, info, so); err != nil {
		return nil, err
	}
	if info.Size() > maxBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that a configuration may have", path, info.Size(), maxBytes)
	}
	return os.ReadFile(path)
}

// distrustError is why a file is not believed: somebody else could have written it.
type distrustError struct{ text string }

func (e *distrustError) Error() string { return e.text }

// checkTrust refuses a file that somebody else could have written: its commands would run as the user.
func checkTrust(path string, info fs.FileInfo, so string) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case worldWritable(info):
		return &distrustError{fmt.Sprintf("%s can be written by every user of this machine, so %s; `chmod o-w %s`", path, so, path)}
	case foreignOwner(info):
		return &distrustError{fmt.Sprintf("%s belongs to another user, so %s; copy it or change its owner", path, so)}
	}
	return nil
}
