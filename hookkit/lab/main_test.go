package lab

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, clean := range atEnd {
		clean()
	}
	os.Exit(code)
}

// atEnd is called after the last test, for what is shared by all of them.
var atEnd []func()
