package gauntlet

import (
	"os"
	"testing"

	"github.com/hookkit/brepl/fakes"
)

func TestMain(m *testing.M) {
	fakes.ToolMain()
	os.Exit(m.Run())
}
