package triage

// runbookRules find the parts of a failure that was understood and fixed. A sentence that tells cause and cure is enough alone; else
// runbook in context.go puts the parts together.
var runbookRules = []rule{
	{
		name: "cause", category: Runbook, weight: part,
		any: []string{
			"^ it was the|a|an|our _ ...", "^ why it was|is|failed|fails|broke _", "root cause", "^ cause|reason|problem $", "culprit is|was|:|turned", "the .. culprit", "caused by _", "cause was|is|:", "was|were|is|are .. causing", "turned|turns out .. that|to|the|it|we|a|our|, ...", "problem|issue|reason|bug|error|failure|crash|leak was|is .. that|the|a|in|:|because|our|an|we|CODE|PATH|not|missing|due",
			"stemmed|stems from", "traced .. to|back", "tracked .. down to", "due to _", "because .. was|were|had|did|is|are|does|has|expired|changed|ran|points|pointed|used|uses|kept|holds|held|never", "was|were missing|stale|expired|outdated|unset|misconfigured|shadowed|hardcoded|truncated|cached|exhausted|full",
			"explains|explained why|the", "boiled|boils|came|comes down to", "happened|happens because|when|whenever|since", "that s why", "found it :|—|.|,|!", "found the problem|issue|cause|bug|culprit|reason|leak", "the reason .. is|was",
			"{broken} ... because _", "came from|because", "was to blame", "the real cause|problem|issue|reason", "ran out of", "was|were never .. closed|released|reset|called|set|awaited|initialized|flushed|renewed|committed", "only .. happened|failed|broke when|because|on",
		},
		unless: []string{"what is|was|s the .. cause|reason", "find the root|cause", "no root cause", "do not know", "unknown", "find out", "look for", "looking for", "not sure", "need to find"},
		keeps:  dampNegated,
	},
	{
		name: "cure", category: Runbook, weight: part,
		any: []string{
			"fixed|solved|resolved|cured|repaired .. by|with|via|after|when|once", "fix|solution|cure|remedy was|is|:|turned .. to|by|a|the|in|CODE|adding|_", "{fixing} .. ... fixed|solved|resolved|cured|helped|helps|fixes|solves|resolves|cures|works|worked|cleared|clears|stopped|stops", "did the trick", "^ the? fix|solution|resolution|remedy|cure $", "sorted it|that|.|$", "^ did that|this|so _", "put|set|moved|turned it back",
			"made it|them work|pass|go|green|start", "after {fixing} _ ...", "after .. restart|upgrade|downgrade|change|fix|reboot|rollback|redeploy|pinning|patch", "{fixing} .. ... {broken} .. went|goes|is|are|gone|away|disappeared|stopped|vanished",
			"so .. {we} .. added|set|changed|raised|bumped|increased|lowered|switched|replaced|removed|deleted|cleared|restarted|upgraded|downgraded|pinned|rolled|disabled|enabled|moved|wrapped|closed|rebuilt|reinstalled|regenerated|rotated|renewed|recreated|updated|installed|patched|reset|reverted|made|put|fixed",
			"{we} .. added|set|changed|raised|bumped|increased|lowered|replaced|removed|deleted|cleared|restarted|upgraded|downgraded|pinned|rolled|disabled|enabled|wrapped|rebuilt|reinstalled|regenerated|rotated|renewed|recreated|patched|reset|reverted|fixed|mounted|escaped|quoted|invalidated|flushed|freed|killed|granted ...",
			"fixed|solved|resolved|cured it|this|that|the|them|those|both", "with _ ... in place ...", "{fixing} .. ... made _ ...", "^ set|put|moved|changed|added|raised|switched ... and it|they|now|the ... again|works|fine|right|correctly", "with _ ... it|they|that works|work|stay|stays|runs|run|passes|pass|fits|holds ...", "is|are fixed|resolved|solved now|.|,|by|with|:|in|and", "now .. sets|uses|closes|calls|waits|retries|handles|checks|passes|clears|releases|awaits|escapes|resets|renews|invalidates _", "needed|had|has to be restarted|set|renewed|rebuilt|cleared|rotated|recreated|flushed",
			"^ {fixing} _ ... and|—|,|; ... {broken|fixed}|gone|works|passes|green|passing|stopped|went", "^ fix : _", "^ resolution : _", "^ remedy : _", "^ solution : _", "^ fixed : _", "the fix was|is|: _", "no longer .. occurs|happens|fails|crashes|leaks|hangs|times|appears|comes|shows|grows", "workaround .. is|was|: to?", "you|we have|need to _ ... to recover|fix|unblock",
		},
		unless: []string{"will|would|could|should|might .. fix|solve|resolve|help", "let me", "i will fix", "to fix it you|we could|might", "trying|try to fix", "did not fix|help|solve|work", "not fixed|resolved|solved", "have to fix|be fixed", "needs to be fixed", "please fix", "can you fix", ", fix $", "set the timeout|limit|size|interval to", "fixed set|size|width|length|point|number|price|position|cost"},
	},
	{
		name: "cause and cure", category: Runbook, weight: plain,
		any: []string{
			"root cause ... fixed|solved|resolved|fix|, so|added|set|changed|raised|switched|replaced|removed", "turned|turns out ... fixed|solved|resolved|so {we}", "fixed|solved|resolved ... by {fixing} _", "fixed|solved|resolved the? ... {broken} ... by", "the fix was|is to", "fix was|: {fixing} ",
			"{broken} ... was|were|is|are .. fixed|solved|resolved by", "{broken} ... caused|because|due|came|since ... fixed|solved|resolved|fix|so {we}|restarting|after", "{broken} ... went|goes away after|once|when", "{fixing} ... fixed|solved|resolved|cured ... {broken}|it|this|that", "{fixing} ... made ... {broken} ... disappear|go|vanish|stop",
			"{broken} ... until {we} .. added|set|changed|raised|restarted|cleared|rebuilt|upgraded|pinned|removed|bumped|rolled|renewed", "if you see|get|hit ... {broken} ... run|restart|delete|clear|set|check|rotate|renew|rebuild|reinstall", "when ... {broken} ... run|restart|delete|clear|set|rotate|renew|rebuild|reinstall _ ... and|to|then|first|before",
			"the {broken} ... was ... ; ... fixed|fix|deleting|clearing|raising|adding|restarting|now", "{broken} ... fix|fixed|solution|resolved|resolution : _", "solved it by", "fixed it by|with",
		},
		unless: []string{"will|would|could|should|might .. fix|solve|resolve", "let me", "please", "did not fix|help|solve", "not .. fixed|resolved|solved yet", "typo", "compile error", "missing import", "unused", "lint", "formatting", "syntax error", "fixed set|size|width|length|point|number|price|position|cost"},
	},
	{
		name: "what to do", category: Runbook, weight: plain,
		any: []string{
			"if|when|whenever you|we|it|this|the .. see|get|hit|sees|gets|hits|fails|hangs|crashes|happens ... {broken}|QUOTE|CODE ... run|restart|delete|clear|set|rotate|renew|rebuild|reinstall|flush|kill ... and|that|then|to|it|which ... {broken}|gone|works|clears|fixes|helps|again|back|cured",
			"if|when|whenever _ ... fails|hangs|crashes|happens|again ... run|restart|delete|clear|set|rotate|renew|rebuild|reinstall|flush|kill ... fixes|fixed|works|helps|gone|clears|cures",
		},
		unless: []string{"maybe|might|could|would"},
		keeps:  dampConditional,
	},
	{
		name: "cure told", category: Runbook, weight: likely,
		any: []string{
			"did the trick", "fixed|solved|resolved ... by _", "turned out .. ... fixed|after", "no longer fails|crashes|hangs|leaks|times ... because|since|after|now", "passes|works|green again after|since|once|now that", "is|are back up|online after|since",
		},
		with:   []string{"{broken}", "{fixing}", "fixed|solved|resolved"},
		unless: []string{"will|would|could|should|might .. fix|solve|resolve", "let me", "please", "did not", "not .. fixed|resolved|solved", "typo", "compile error", "missing import", "unused", "lint", "formatting", "syntax error"},
	},
}

// troubleRules find the failure itself, proof that it is gone, and that it is not; they are no evidence alone.
var (
	troublePatterns = []string{
		"fails|failing|failed|crash|crashes|crashed|crashing|hangs|hanging|hung|flaky|timeout|timeouts|deadlock|deadlocks|oom|segfault|panics|outage|incident|500s|502|503|504|leaks|leaking|stuck", "error|errors|exception|failure|bug|regression", "timed|times|timing out",
		"does|do|did|will|would not start|work|load|connect|respond|build|deploy|boot|run|come|go|compile|render|match|finish|arrive|send|receive|update|sync", "broke|broken|breaks", "wrong|duplicate|duplicated|missing|stale|empty|corrupt|corrupted|lost|slow", "connection refused|reset", "permission denied", "out of memory", "killed", "down", "refused|denied|rejected|rejecting", "hit|getting|gets|got|seeing|throws|throwing|returns a|an?|NUM|CODE",
		"went|is|are|was|were red", "stopped working|responding|syncing|sending", "no longer works|starts|builds",
	}
	healedPatterns = []string{
		"works|work|working|worked .. now|again|fine|too|at|in|thank|everywhere|!|.|,|$", "it works|worked", "pass|passes|passing|passed|green|succeeds|succeeded|clean|quiet|calm|smooth|stable|healthy|recovered|fixed|resolved|solved|cured|gone|vanished|disappeared|magic|fast", "no longer|more|one _?", "back up|online|to normal|at|on|in|again|from", "are|is|s back", "confirmed|closed|closing", "not .. come back|happen|happened|again|since|once|a single", "that was it", "that|it did it", "that|it worked|helped|helps", "went away|through|down|back", "drained|caught up|shrinking", "NUM runs|times|builds|hours|nights|days|minutes ... without|no|green|quiet",
		"saved my|the|us", "love it", "perfect|beautiful|yay|yess|yesss|yesssss|hooray|hurray|phew|finally|awesome|brilliant|amazing|lovely|omg|wow|sweet|magic|thank|thanks|danke|merci|great|nice|cool|super", "in NUM now", "is|are|at|to|was|down .. NUM", "starts|starts|builds|loads|answers|answer|arrive|arrives|prints|comes|come|goes|go|returns|stays|stayed|opens|runs|reads|imports|connects|agree|matches|match|equal|finishes|completes|parses|sends|accepts ... now|again|out|through|quiet|NUM|fine|up|.|,|$|;|in|!|all|to", "without|no|zero|not .. error|errors|reset|resets|restart|restarts|duplicates|outliers|clicks|failures|failure|drops|double|leak|leaks|complaints|NaN|timeouts|loss", "good again|now|on", "all good", "again $", "right time|order|value|place|result", "at once", "NUM _? instead of NUM", "goes|went through", "tokens? validate again", "no .. differences|nan|error|errors|reset", "{broken} .. stopped|ended|ceased|over", "it arrives|prints|starts|builds|loads|answers|compiles|runs|fits|passes",
	}
	unsolvedPatterns = []string{
		"still .. fails|failing|broken|crashes|hangs|happens|happening|flaky|leaking|see|seeing|get|getting|red|there|same|occurs|reproduces|open|unexplained|wrong|slow|unclear|investigating|looking|no idea|not", "same error|problem|issue|result|failure", "no luck", "did|does not help|fix|solve|work|change", "not .. fixed|solved|resolved|understood|found yet", "not .. found|know|figured|understand .. why|cause|the|out|what",
		"no idea why|what", "unresolved|unsolved", "can not reproduce|explain", "do|does not know why|what", "remains|is a mystery|open|unexplained|unclear|unknown", "came back", "back again", "have to|must|need to .. investigate|dig|look|debug .. more|further|later|tomorrow", "gave|giving|give up", "park|parking it|this|that",
		"without success", "made no difference", "out of ideas", "still .. working on", "not .. compile|build|work|pass|run yet", "not .. done|finished|complete|completed yet", "in progress", "^ nope", "same thing", "not convinced|gone|better", "something else", "need|needs to reproduce|investigate|look|debug",
	}
	trivialPatterns = []string{
		"typo|typos|misspelled|misspelling", "syntax error", "compile|compiler|compilation error|errors", "missing import|semicolon|bracket|parenthesis|paren|comma|brace|quote|return|colon", "unused import|variable|parameter", "forgot .. import|semicolon|comma|return|bracket", "undefined : ", "lint|linter|gofmt|prettier|eslint|formatting|indentation error|errors|warning|warnings|issue|issues|complaint|complaints", "not imported", "import was missing",
		"type error|mismatch", "does|did not compile", "wrong import", "off by one", "undeclared|unresolved name|variable|import|symbol", "red squiggle", "extra|stray bracket|comma|semicolon|paren",
	}
)
