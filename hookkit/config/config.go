// Package config reads settings that come in layers: a flag beats the environment, the environment a file, a nearer file a farther one,
// and any of them the default.
//
// Scalars are layered by viper, and this is the only package that imports it: linking it costs about a millisecond at every start.
// Whatever has structure is decoded from the same bytes by [Decode], strictly: viper knows no lines, lower-cases the keys of maps and
// takes "maybe" for false.
//
// It serves the programs of this repository and carries no promise of stability.
package config

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/viper"
)

// Key is one scalar setting.
type Key struct {
	Name string // its path in a file: "stop_hook.enabled"
	// Default is the value that no layer overrides. Its type is the setting's: bool, int, string or []string.
	Default any
	Env     string // the variable that overrides the files, set and not empty; "" for none
	// Check reports what is wrong with a settled value; nil takes every value of the type.
	Check func(value any) error
}

// File is one file of settings. It has passed [Decode], so its values have the right types.
type File struct {
	Path string
	Data []byte
}

// Layers are all places that a setting may come from.
type Layers struct {
	Keys  []Key
	Flags map[string]any // by Key.Name, only what was given; of the key's type
	Env   func(name string) (value string, set bool)
	Files []File // the one that counts most stands first
}

// Values are settled settings. Asking for a name that is no key, or for another type, is a mistake of the program and panics.
type Values struct {
	viper   *viper.Viper
	origins map[string]string
}

// Settle layers the settings. The error names the place of the value that cannot be used: a variable, or a file.
func (l Layers) Settle() (*Values, error) {
	values := &Values{viper: viper.New(), origins: map[string]string{}}
	for _, key := range l.Keys {
		values.viper.SetDefault(key.Name, key.Default)
		values.origins[key.Name] = "default"
	}
	for _, file := range slices.Backward(l.Files) {
		if err := values.mergeFile(file, l.Keys); err != nil {
			return nil, err
		}
	}
	if l.Env != nil {
		if err := values.mergeEnv(l.Env, l.Keys); err != nil {
			return nil, err
		}
	}
	for name, value := range l.Flags {
		values.viper.Set(name, value)
		values.origins[name] = "flag"
	}
	for _, key := range l.Keys {
		if key.Check == nil {
			continue
		}
		if err := key.Check(values.value(key.Name)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", values.origins[key.Name], key.Name, err)
		}
	}
	return values, nil
}

func (v *Values) mergeFile(file File, keys []Key) error {
	one := viper.New()
	one.SetConfigType("yaml")
	if err := one.ReadConfig(bytes.NewReader(file.Data)); err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	for _, key := range keys {
		// A key without a value, "stop_hook:" or "max_retries: null", says nothing.
		if one.InConfig(strings.SplitN(key.Name, ".", 2)[0]) && one.Get(key.Name) != nil {
			value := one.Get(key.Name)
			if text, isText := value.(string); isText {
				// Decode takes yes and on for true as YAML 1.1 did; viper keeps them as texts, and takes those for false.
				var err error
				if value, err = parse(text, key.Default); err != nil {
					return fmt.Errorf("%s: %s: %w, found %q", place(file, key.Name), key.Name, err, text)
				}
			}
			v.viper.Set(key.Name, value)
			v.origins[key.Name] = place(file, key.Name)
		}
	}
	return nil
}

func (v *Values) mergeEnv(env func(string) (string, bool), keys []Key) error {
	for _, key := range keys {
		text, set := "", false
		if key.Env != "" {
			text, set = env(key.Env)
		}
		if !set || text == "" {
			continue
		}
		value, err := parse(text, key.Default)
		if err != nil {
			return fmt.Errorf("%s=%s: %w", key.Env, text, err)
		}
		v.viper.Set(key.Name, value)
		v.origins[key.Name] = key.Env
	}
	return nil
}

// parse reads the text of a variable as a value of the type that like has. viper itself takes every text, and nonsense for 0.
func parse(text string, like any) (any, error) {
	switch like.(type) {
	case bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "y", "on":
			return true, nil
		case "false", "0", "no", "n", "off":
			return false, nil
		}
		return nil, fmt.Errorf("expected true or false")
	case int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("expected a whole number")
		}
		return n, nil
	case []string:
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
	default:
		return text, nil
	}
}

func (v *Values) value(name string) any {
	if _, known := v.origins[name]; !known {
		panic("config: no key " + name)
	}
	return v.viper.Get(name)
}

// Bool returns a setting whose default is a bool.
func (v *Values) Bool(name string) bool { v.value(name); return v.viper.GetBool(name) }

// Int returns a setting whose default is an int.
func (v *Values) Int(name string) int { v.value(name); return v.viper.GetInt(name) }

// String returns a setting whose default is a string.
func (v *Values) String(name string) string { v.value(name); return v.viper.GetString(name) }

// Strings returns a setting whose default is a []string.
func (v *Values) Strings(name string) []string { v.value(name); return v.viper.GetStringSlice(name) }

// Origin says where a setting comes from: "flag", the variable's name, file:line, or "default".
func (v *Values) Origin(name string) string { v.value(name); return v.origins[name] }
