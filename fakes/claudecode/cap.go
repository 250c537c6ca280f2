package claudecode

import (
	"fmt"
	"strconv"
	"strings"
)

// CapVariable is the environment variable that changes the cap.
const CapVariable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

const defaultCap = 8

// Cap counts how often in a row a hook kept the agent from stopping: 8 blocks
// are honoured, the 9th is overridden (recording stop-block-cap). Any use of a
// tool and a new prompt start the count again (host-protocol, Stop: "Cap").
type Cap struct{ limit, count int }

// NewCap makes a Cap from the value of CLAUDE_CODE_STOP_HOOK_BLOCK_CAP. "" and
// what is no number of 0 or more mean 8; 0 means no cap.
func NewCap(env string) *Cap {
	n, err := strconv.Atoi(strings.TrimSpace(env))
	if err != nil || n < 0 {
		n = defaultCap
	}
	return &Cap{limit: n}
}

// Block counts a block, or another turn for an additionalContext, and reports
// whether the client honours it.
func (c *Cap) Block() (honoured bool) {
	c.count++
	return c.limit == 0 || c.count <= c.limit
}

// Count returns the number of blocks in a row.
func (c *Cap) Count() int { return c.count }

// ToolUsed says that the agent used a tool.
func (c *Cap) ToolUsed() { c.count = 0 }

// Prompted says that the user spoke.
func (c *Cap) Prompted() { c.count = 0 }

// Notice is what the user reads when a block is overridden (recording
// stop-block-cap).
func (c *Cap) Notice() string {
	return fmt.Sprintf("A hook blocked the turn from ending %d consecutive times—overriding and ending turn. "+
		"For Stop/SubagentStop hooks, check stop_hook_active in the input and return success while it's true. "+
		"Set "+CapVariable+" to raise this limit.", c.count)
}
