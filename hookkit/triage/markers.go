package triage

// Patterns that describe sentences and are no evidence themselves. See engine.dampersOf, choice.go and context.go for what they do.
var (
	conditionalPatterns = []string{
		"what could .. go wrong",
		"if|unless|whether|suppose|supposing|assuming|imagine|hypothetically|theoretically|wonder|wondering", "in case", "maybe|perhaps|possibly|presumably|potentially", "might|could|would", "it|this|that|you|they|i|there may", "should {we}|it|you|that|this", "shall {we}", "not sure|certain|convinced|yet", "leaning|lean toward|towards", "think|thinking about|of", "consider|considering", "in theory", "one|another|an|possible|alternative option|approach|idea|way|possibility is|would|could|might|:",
		"alternatively", "either", "let us say|assume|suppose|imagine", "until {we} decide|have", "before {we} decide|can", "depends|depending", "for example|instance", "e.g", "unsure|undecided|tempted|inclined", "lean|leaning", "what about", "how about", "need|have|has|want|needs|wants|time to|going to? decide|choose|pick|agree|settle", "to be decided|chosen|determined|discussed", "can|must|should decide|choose|pick|discuss", "help .. decide|choose|pick", "options are|:", "feel free",
		"you can|could|may|might", "we can",
	}
	reportedPatterns = []string{
		"{doc} .. {says}", "{says} .. in the? {doc}", "according to", "in the? {doc} ,|:|it|they|he|she|the", "quote : ", "{doc} : ", "he|she|they|someone|people|everyone|everybody|author|authors|experts|folks|some .. {says}|think|thinks|thought|believe|prefer|prefers|decided|chose", "the|a {doc} .. we|they", "in the {doc}", "from the {doc}", "the {doc} that", "{doc} {says}", "as described in", "so called",
		"is said to", "it s|is called", "supposedly|allegedly|reportedly", "quoting|quoted|cites|cited",
	}
	elsewherePatterns = []string{
		"at|in|for my|our|the|his|her|their last|previous|old|former|other|first|earlier job|company|team|project|employer|client|gig|startup|place|workplace|life", "my|our|his|her|their last|previous|old|former company|team|job|employer|project|boss", "i heard|read|saw|hear", "if {we} ever", "what could .. go wrong", "another|other|different team|teams|project|projects|company|companies|people|department|group|squad", "their team|project|company|architecture|stack|design", "back then|in", "years|months ago", "used to", "many|most|some|other people|teams|companies|projects|developers|engineers|shops|folks|libraries|frameworks|languages", "netflix|google|facebook|amazon|uber|spotify|airbnb|microsoft|shopify chose|uses|decided|went|use|picked|switched|moved|built",
		"historically", "in general|generally", "as a general", "the book|article|blog|author|paper|chapter", "in 19NUM", "the competitor|competition|competitors", "my colleague|friend|brother|wife|husband|neighbour|neighbor|boss .. uses|prefers|likes|chose|said", "typically|usually|commonly", "the original|previous author|authors|maintainers|developers|team|owner", "in the novel|story|film|movie|game",
	}
	plannedPatterns = []string{
		"let me", "i will|am going to? .. fix|try|look|check|investigate|add|change|see", "will|would|should|could|might|may .. fix|solve|resolve|help", "going to", "please|can you|could you", "try|trying to", "want to", "next ,|i|step|up", "need|needs to be", "let us",
	}
	retractPatterns = []string{
		"scratch that|it|this|what", "never mind", "nevermind", "forget that|it|this|what|about|the|my", "changed|change|changing my|our mind", "on second thought|thoughts", "second thought|thoughts", "take|taking that|it back", "disregard|ignore that|this|it|what|my|the last|previous|above", "ignore|disregard|forget|drop|cancel what i|we said|wrote|asked|told|decided", "ignore|disregard|forget that|this|it $", "cancel that|this|it", "i was wrong about|there", "i was joking|kidding", "just kidding", "correction : ", "no longer _ ... rule|preference|want|need|care|applies|true|matters",
		"not any more|anymore", "i take .. back", "strike that", "undo|revert that|this|it|everything|all|the", "roll|rolled that|this|it|everything back", "actually|ok|okay|hm|hmm|no|wait ,? no", "wait ,", "actually ,? let us|do not|keep|drop|leave|forget|scrap|skip|not|we|i|go|use|that|the|it", "drop|scrap|skip|revert|withdraw|abandon that|the rule|idea|plan|decision|that", "that s|is|was .. wrong|no longer|off the table|outdated|obsolete|moot|overruled|a mistake|nonsense", "does not|no longer .. apply|applies|hold|stand",
		"back to the old|drawing|previous|original|square", "i|we .. reconsidered|reversed", "overruled|vetoed|withdrawn", "not .. after all",
	}
	reopenPatterns = []string{
		"hold|holding off", "decide|decided|discuss|settle|revisit|pick|choose .. later|tomorrow|next|another|monday|after|once|when|first|separately|in", "not .. decided|final|settled|sure|agreed|committed|convinced|chosen yet?", "still .. open|undecided|thinking|unsure|debating|discussing|up|not|considering|evaluating|need|needs", "open question|issue", "undecided", "up in the air", "tbd", "sleep on it|that|this", "keep .. open", "postpone .. decision", "let me think", "need|needs more|to .. think|discuss|ask|check|talk", "wait for|until|with", "back and forth", "no decision", "reopen|reopened|revisit the|that|this",
	}
	undonePatterns = []string{
		"removed|remove|deleted|delete|replaced|cleaned|resolved|fixed|addressed|finished|done|implemented|gone|gotten|got|paid|refactored|rewrote|rewritten|closed|dropped|unskipped|enabled|restored|migrated ... {hack}|todo|todos|fixme|hardcoded|hard|debt|duplication|duplicate|skip|skipped|stub|temporary|shortcut|copy|properly|placeholder|mock", "{hack}|todo|todos|fixme|debt|duplication|stub|placeholder|shortcut|skip is|are|was|were|has|have|s|been .. gone|removed|resolved|fixed|done|replaced|cleaned|closed|paid|implemented|addressed",
		"no todo|todos|{hack} left|remain|remaining|anymore|any", "did|done|do|does|fixed|implemented|handled|solved it|that|this|them now? properly|right|cleanly|correctly", "properly now", "now properly|really|actually", "re enabled", "no longer hardcoded|hard|skipped|disabled|stubbed|duplicated|needed|necessary|temporary", "clean|cleaned .. up now|already|too|as well|the", "nothing left to|open|for later", "let us do|fix|clean it|that|this now|properly|right",
	}
	toOrderPatterns = []string{
		"write|draft|compose|create|generate|prepare|give|show|make|produce|invent|rewrite|polish|proofread|improve|edit|shorten|expand|update me|us? .. ... article|blog|post|essay|email|mail|newsletter|story|poem|speech|tweet|announcement|press|sample|samples|example|examples|template|templates|adr|adrs|skill|tutorial|quiz|exercise|exercises|slide|slides|talk|letter|dialogue|dialog|conversation|scene|chapter|fixture|fixtures|demo|novel|joke|haiku|lesson|course|whitepaper|brochure|advert|ad|fictional|fake|dummy|lorem|presentation|abstract|paragraph|sentence|sentences|text|texts|wording|persona|notes|interview|questionnaire|cheat|cheatsheet|glossary|flashcards|memo|readme|contributing|made",
		"translate|translation|localize|localise", "proofread|paraphrase|summarize|summarise|rephrase|reword", "write|draft|compose|prepare|phrase|word|formulate|polish|improve|shorten|suggest|give ... deck|keynote|pitch|bio|faq|dialogue|screenplay|announcement|minutes|retro|standup|case|story|stories|epic|epics|checklist|exam|homework|puzzle|invitation|apology|reply|message|description|posting|ad|linkedin|slack|update|status|prompt|transcript|chat|quote|testimonial|review|statement|note|notes|bullet|bullets|headline|title|caption|summary|wording|phrase|line|lines|text for|to|about|of|that|in|on|from|so|,|.|$", "reword|rephrase|reformulate|translate|localise", "what does|do .. ... mean", "what is|are a|an _", "what is|are {doc}", "define _", "difference between", "teach me", "explain .. how|what|the|me|a", "in other words", "role play|roleplay", "pretend|act as", "turn|convert this|these|the|my ... into", "made up", "invent it|everything|something", "toy|fictional|imaginary|fake repo|project|company|startup|example", "polish|improve|shorten|reword|rewrite this|the|my commit|message|text|sentence|mail|wording", "grammar|spelling|spell|style check", "bullet|bullets points? for", "interview questions", "summary|tldr|gist of .. article|document|doc|paper|book|page|text", "what .. meant|mean|means by|with", "review|check|fix my|this|the text|letter|article|post|draft|wording|email|grammar", "just quote it", "quote .. it|the|doc|section", "what|which does|did .. say|says",
	}
	proposalPatterns = []string{
		"i .. recommend|suggest|propose|advise|lean|would|favour|favor|vote", "my recommendation|suggestion|proposal|preference|vote|advice|take", "recommendation|suggestion|proposal : ", "option|approach|variant|alternative|plan a|b|c|NUM|one|two", "two|three|several|NUM|few options|approaches|ways|alternatives|choices|possibilities", "should|shall|do|would {we}|i|you|it .. ... or", "either", "trade off|offs|offs", "versus|vs", "alternatively", "which .. prefer|like|want|should|one|do|would", "do you want", "we could", "pros|cons", "would you rather|prefer|like",
	}
	alternativesPatterns = []string{
		"or", "over|instead|rather|versus|vs", "option|options|approach|approaches|alternative|alternatives|variant|choice|choices|trade", "recommend|propose|suggest", "either",
	}
	assentPatterns = []string{
		"^ yes|yep|yeah|yup|ok|okay|sure|agreed|agree|fine|good|great|perfect|right|approved|exactly|definitely|absolutely|lgtm|deal|correct|confirmed|cool|nice|excellent|sold|convinced|ack|go|works|jup|aye|fair|true|alright|+", "sounds good|great|right|fine|reasonable|like|sensible", "makes sense", "do it|that|so|this", "go ahead|for|with", "let us do|go|take|use|keep|stick", "i agree|like|am fine|am ok|am convinced|am in", "works for me", "the first|second|third|former|latter|last|one", "option|variant|approach|plan a|b|c|NUM|one|two|three", "^ a|b|c $", "^ NUM $", "^ a|b|c ,|.|please|then|it|because|since",
		"good idea|point|call|plan|choice", "you are right", "ship it", "please do", "thumbs up", "^ EMOJI", "no objection|objections", "fair enough", "i am sold|convinced",
	}
	refusalPatterns = []string{
		"^ no|nope|nah", "not now|yet|sure|convinced|really", "do not", "let me think", "i .. think|disagree|doubt|would rather|prefer", "wait|hold|stop", "what|why|how|which|is|are|does|do|can|could ... ?", "later",
	}
	becausePatterns = []string{"because|since|due|given|therefore|hence", "as .. {ext}|limit|only|not", "so that", "forces|forced|which means"}
	donePatterns    = []string{
		"done|implemented|finished|completed|complete|shipped|merged|deployed|added|refactored|migrated|updated|moved|renamed|extracted|wired|ported|replaced|converted|split|created|built|rewrote|committed|released|introduced|removed|changed|fixed|switched|upgraded|in place|reworked|pushed|set|landed|all|extended|everything|ready", "tests|test|suite|build|ci|all|everything|checks .. pass|passes|passing|green|succeed|succeeds|clean|passed", "now .. works|uses|supports|has|have|goes|reads|runs|takes|returns|sends",
	}
	// complaintPatterns are trouble when the user says it: too broad for the agent's words.
	complaintPatterns = []string{
		"not .. anymore|any|again", "can not|cant .. {do}|talk|connect|reach|see|load|log|login|print|find|get|build|accept|write|reach", "will not .. {do}|accept|write|connect", "anymore|nonstop|weird|odd|strange|wtf|ugh|argh|ffs|help|scary|suddenly", "every NUM|~ .. s|min|seconds|hours|requests", "takes|took|takes +|~ .. NUM|forever|ages|long", "NUM .. to NUM .. after|since", "since .. yesterday|morning|update|upgrade|deploy|change|bump|friday|monday|weekend|last|this|night|mid|may|release", "after .. update|upgrade|deploy|bump|change|restart|merge", "freezes|jerks|flickers|drifts|drift|resets|restarts|rebalance|rebalances|eats|grows|growing|grew|climbs|climbing|disappears|vanishes|doubles|shows|gives|returns|prints ... {broken}|twice|nothing|zero|empty|NUM|old|wrong|again|half|none|QUOTE", "twice|off|random|sometimes|half the|of|some|every", "always zero|empty|wrong|null|nan|red|fails", "logged|logs|kicked|thrown out", "NUM gb|mb|seconds|s|min", "is|are|was|were|gets|get|goes|go|went .. red|wrong|off|empty|broken|down|slow|blank|late|lost|missing|killed|stuck|out|back|gone|zero|mad|crazy|NUM|offline|corrupt|double|doubled", "obviously .. wrong|bs|broken|bad|off", "one after the other", "drift apart", "up|down .. since|after|and", "does|do nothing|not", "out of", "QUOTE when|after|if|on|twice|in", "falls|fall|fell over|apart", "memory|disk|cpu|load|heap|latency|usage|queue|backlog .. growing|grows|grew|climbing|climbs|rising|rises|high|full|exploding|explodes", "spins|blinks|lags|stutters|stalls|jumps|leaks|dies|hangs|loops", "bug report|ticket", "customer|customers|users|people .. can not|get|gets|see|complain|report|are|got",
	}
	ownLimitPatterns = []string{"^ add|set|implement|build|create|put|make|limit|cap|restrict|write|need|want .. ... limit|limits|cap|quota|limiter|timeout|maximum|max|throttle|throttling"}
	// featurePatterns are requests for a part of the program: what it shall do is neither a habit nor a limit.
	featurePatterns = []string{
		"^ add|implement|build|create|write|make|give|show|render|generate|develop|design me|us? a|an|the|one|some? .. .. button|flag|feature|function|option|endpoint|page|field|setting|command|column|method|component|dialog|view|screen|form|table|class|module|script|helper|api|service|job|hook|handler|filter|parameter|limit|cache|queue|header|footer|menu|widget|toggle",
		"make the|it|this _ ... always|sticky|visible|return|show",
	}
	// properPatterns speak of how it should really be done, laterPatterns put something off: one answers the other.
	properPatterns    = []string{"proper|properly|clean|cleaner|real|right|correct|lasting|honest|ideal|better fix|solution|way|thing|repair|approach|job|version", "should really|properly|ideally|actually", "would be the|a proper|clean|right|better|real|correct|lasting", "else it|this comes", "ideally|properly", "not .. should .. have|be"}
	howToPatterns     = []string{"how do|can|could|would|to i|you|one _"}
	laterPatterns     = []string{"later $", "later ,|.|;|—", "^ later", "not now|today|yet|this", "some other time|day|quarter|week", "next week|sprint|release|quarter|month|year|time", "in {when}", "after|when|once|until|till _ ...", "follows|follow", "one day|someday|eventually"}
	convincedPatterns = []string{"i am|m .. convinced|sold", "^ convinced|sold", "i buy it|that", "you win", "fair .. convinced", "let us adopt it|that|this|_", "agreed , _ .. it|then|gets|get"}
	requestPatterns   = []string{
		"^ {do}|can|could|would|please|pls|add|fix|implement|port|rename|switch|turn|pull|plot|draft|polish|find|look|help|export|convert|clean|sort|set|get|take|need|want|instrument|continue|undo|redo|figure|debug|investigate|teach|count|instrument|scrape|block|mark", "can|could|would you", "i|we want|need|would like", "let us|me", "how|what|which|who|where|when do|does|is|are|s|to|should|can|did|would|about|has|was", "should|must|shall|please|pls", "it would be nice", "instead",
	}
	promisePatterns = []string{
		"will do", "i will keep|stick|wait|remember|follow|always|never|adopt|{do} ... that|it|each|every|from|always|now|time|to|first|this|in", "i will not .. {do}", "i will not", "from here|now on", "noted", "it will|'ll be", "^ no .. in", "i will $", "i will .", "understood , _", "will keep|stick to", "_ only .|$", "each|every time", "rewritten|redone|converted|replaced|removed .. as|with|by|to|.", "^ {style} first", "_ first from", "is in _ case",
	}
	explainingPatterns = []string{
		"so|because|since|which|when|until|while|once|whenever|whoever|therefore|hence", "without|never|only|no|missing|nobody|nothing|not|already|instead|behind|before|after|twice|both|each|every|one|too|any|none", "that s|is why|your|the|what", "by the time|now", "happens|here s|here is", "see the|:",
	}
	hidingPatterns    = []string{"marked|mark .. xfail|skip|skipped", "xfail|xfailed", "skipped|disabled|muted|silenced|suppressed the|three|both|test|tests|check", "are|is .. skipped|disabled|muted|silenced|ignored"}
	comparingPatterns = []string{
		"while|whereas|both|alternatively|alternative|trade|either", "cheaper|lighter|faster|slower|smaller|bigger|larger|safer|simpler|easier|cleaner|heavier|quicker|less|more|fewer|better|worse|enough|harder|longer|shorter|stronger|older|newer|closer|costs|saves|pays|wins|brings|lets|gives|needs|supports|works", "{we} would|'d", "could .. {do}", "instead|rather|over|versus|vs",
	}
	wonderingPatterns = []string{
		"{we} .. thinking|wondering about|of|whether", "which|what|where|how should|would|shall|could ... ?", "which|what|where|how do|can|to we ... ?", "which|what|where to|about ... ?", "your call", "options|alternatives|choices", "what do you think|suggest|recommend|prefer", "would you", "opinion|advice|thoughts", "should {we}|it|that|the|this",
	}
	settledPatterns = []string{
		"i am|m|'m .. convinced|sold", "^ convinced|sold", "i buy it|that", "you win", "fair .. {do}|let|convinced", "let us do|adopt|take|go|use that|it|this|like", "^ yes|yep|yeah|ok|okay|agreed|fine|good|sure|perfect|great .. do it|that|so|this like that|this", "do it like that|this", "fine by|with me", "sounds good|right|great|perfect|reasonable to me", "sounds like a plan", "^ agreed $", "^ agreed ,|.", "makes sense , {do}|let", "let us adopt", "go ahead with", "i like|prefer the|your|that|this first|second|third|last|option|approach|idea|proposal", "your way",
		"that s|is what we do|use|go|want",
	}
	notedPatterns = []string{
		"food for thought", "just .. exploring|curious|asking|wondering|dreaming|looking", "for my|a|the talk|homework|quiz|class|course|exam|bid|interview|article|poll", "i will .. ask|check|talk|think|bring|let|discuss|see|try|read", "got it , thanks|thx", "good to know", "what|which|how|why ... ?",
	}
	ackPatterns = []string{
		"will do", "i will keep|stick|wait|remember|follow|not|use|do|run|ask|write|put|always|never|adopt|start|skip|leave|drop", "from here|now on", "noted|understood|got it|of course|okay|ok|sure|right|sorry", "only|it ,|. $", "it will|'ll be", "each|every time", "no .. in|from|any", "{do} first", "i will", "going forward", "to that",
	}
	generalPatterns = []string{
		"always|everywhere|anywhere|whenever|elsewhere", "every|each time|one|single|new|pr|commit|file|function|test|query|service|module|change|feature|time|repo|project", "all|any our|new|the|future|queries|files|tests|code|docs|repos|projects|services|modules|commits|reports|prs|other|of", "in|across all|our|this|any|every|each app|repo|repos|solution|codebase|code|project|projects|team|company|lab|house|docs|monorepo|org|base|readmes|reports|data|db|package|shop|office", "as a habit|rule|principle|default", "not here", "when i am|m on|in", "from now|here on", "that s|is how|the way {we}|the|our|all|everybody|everyone",
		"{we} do not do|write|use|have|want|like|put|add", "banned|forbidden|frowned|taboo|verboten|no go", "in general|generally|by default|in future|for good|forever|permanently|never|ever", "{we} write|name|use|put|keep|like|prefer|format|spell|say|call|follow|convert", "also the old|existing|others", "full stop|period", "like , always", "for when|whenever",
	}
	thisTaskPatterns = []string{
		"for this|the one|task|pr|ticket|file|time|case|change|commit|function|branch|feature|module|script|bug|once", "in this|the pr|commit|task|case|function|file|change|ticket|branch|one|script|feature|sprint|makefile|dockerfile|notebook|class|component|endpoint|test|query|report|mail|page|module|method|section|example", "this time|once|one", "just|only this|once|now|today|here", "for today|now|once", "right now", "here only", "let us start", "ok|okay hands off",
	}
)

// mark is what a list of patterns says about a sentence.
type mark uint8

const (
	markConditional mark = iota
	markReported
	markElsewhere
	markPlanned
	markThisTask
	markRetract
	markReopen
	markUndone
	markTrouble
	markHealed
	markUnsolved
	markTrivial
	markToOrder
	markProposal
	markAlternatives
	markAssent
	markRefusal
	markBecause
	markDone
	markComparing
	markPromise
	markRequest
	markProper
	markLater
	markHowTo
	markFeature
	markOwnLimit
	markConvinced
	markComplaint
	markExplaining
	markHiding
	markWondering
	markSettled
	markNoted
	markAck
	markGeneral
	markCount
)

// markTable holds the patterns of each mark.
func markTable() [markCount][]string {
	return [markCount][]string{
		markConditional:  conditionalPatterns,
		markReported:     reportedPatterns,
		markElsewhere:    elsewherePatterns,
		markPlanned:      plannedPatterns,
		markThisTask:     thisTaskPatterns,
		markRetract:      retractPatterns,
		markReopen:       reopenPatterns,
		markUndone:       undonePatterns,
		markTrouble:      troublePatterns,
		markHealed:       healedPatterns,
		markUnsolved:     unsolvedPatterns,
		markTrivial:      trivialPatterns,
		markToOrder:      toOrderPatterns,
		markProposal:     proposalPatterns,
		markAlternatives: alternativesPatterns,
		markAssent:       assentPatterns,
		markRefusal:      refusalPatterns,
		markBecause:      becausePatterns,
		markDone:         donePatterns,
		markComparing:    comparingPatterns,
		markPromise:      promisePatterns,
		markConvinced:    convincedPatterns,
		markOwnLimit:     ownLimitPatterns,
		markFeature:      featurePatterns,
		markProper:       properPatterns,
		markLater:        laterPatterns,
		markHowTo:        howToPatterns,
		markRequest:      requestPatterns,
		markComplaint:    complaintPatterns,
		markExplaining:   explainingPatterns,
		markHiding:       hidingPatterns,
		markWondering:    wonderingPatterns,
		markSettled:      settledPatterns,
		markNoted:        notedPatterns,
		markAck:          ackPatterns,
		markGeneral:      generalPatterns,
	}
}

// marked is a place where a sentence has a mark.
type marked struct {
	mark mark
	span span
}
