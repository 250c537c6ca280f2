package fakes

// PreEditEvent is what a PreToolUse hook reads before an Edit. file is
// absolute, as the client makes it.
func PreEditEvent(file, oldString, newString string, opts ...EventOption) Event {
	return preTool("Edit", editInput(file, oldString, newString), opts)
}

// PreWriteEvent is what a PreToolUse hook reads before a Write.
func PreWriteEvent(file, content string, opts ...EventOption) Event {
	return preTool("Write", writeInput(file, content), opts)
}

// PreBashEvent is what a PreToolUse hook reads before a Bash command.
func PreBashEvent(command string, opts ...EventOption) Event {
	return preTool("Bash", bashInput(command), opts)
}

// PostEditEvent is what a PostToolUse hook reads after an Edit. original is
// the file's content before it. The structured patch is empty: the fake does
// not compute one.
func PostEditEvent(file, oldString, newString, original string, opts ...EventOption) Event {
	return postTool("Edit", editInput(file, oldString, newString), object{
		{"filePath", file},
		{"oldString", oldString},
		{"newString", newString},
		{"originalFile", original},
		{"structuredPatch", []object{}},
		{"userModified", false},
		{"replaceAll", false},
	}, opts)
}

// PostWriteEvent is what a PostToolUse hook reads after a Write that made a
// new file.
func PostWriteEvent(file, content string, opts ...EventOption) Event {
	return postTool("Write", writeInput(file, content), object{
		{"type", "create"},
		{"filePath", file},
		{"content", content},
		{"structuredPatch", []object{}},
		{"originalFile", nil},
		{"userModified", false},
	}, opts)
}

// PostBashEvent is what a PostToolUse hook reads after a Bash command that
// exited with 0. output is its standard output with its standard error in it.
func PostBashEvent(command, output string, opts ...EventOption) Event {
	return postTool("Bash", bashInput(command), object{
		{"stdout", output}, {"stderr", ""}, {"interrupted", false}, {"isImage", false}, {"noOutputExpected", false},
	}, opts)
}

// BashFailureEvent is what a PostToolUseFailure hook reads after a Bash
// command that failed. message is the client's, "Exit code 3\n…".
func BashFailureEvent(command, message string, opts ...EventOption) Event {
	return newEvent("PostToolUseFailure", commonFields(), object{
		{"tool_name", "Bash"},
		{"tool_input", bashInput(command)},
		{"tool_use_id", defaultToolUseID},
		{"error", message},
		{"is_interrupt", false},
		{"duration_ms", 20},
	}, opts)
}

func editInput(file, oldString, newString string) object {
	return object{{"file_path", file}, {"old_string", oldString}, {"new_string", newString}, {"replace_all", false}}
}

func writeInput(file, content string) object {
	return object{{"file_path", file}, {"content", content}}
}

func bashInput(command string) object {
	return object{{"command", command}, {"description", "Run a command"}}
}

func preTool(tool string, input object, opts []EventOption) Event {
	return newEvent("PreToolUse", commonFields(), object{
		{"tool_name", tool}, {"tool_input", input}, {"tool_use_id", defaultToolUseID},
	}, opts)
}

func postTool(tool string, input, response object, opts []EventOption) Event {
	return newEvent("PostToolUse", commonFields(), object{
		{"tool_name", tool},
		{"tool_input", input},
		{"tool_response", response},
		{"tool_use_id", defaultToolUseID},
		{"duration_ms", 20},
	}, opts)
}
