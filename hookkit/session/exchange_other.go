//go:build !linux

package session

import (
	"errors"
	"os"
)

// exchange cannot be done here in one step.
func exchange(string, string) error { return errors.ErrUnsupported }

func openHandle(string) (*os.File, error) { return nil, errors.ErrUnsupported }
