package triage

// preferenceRules find how the user wants things done from now on. Only the user has preferences.
var preferenceRules = []rule{
	{
		name: "from now on", category: Preference, who: user, weight: plain,
		any: []string{
			"from now|here on", "from now|here onward|onwards", "going|moving forward", "in future", "in the future .. please|always|never|do|use|just|,|i|only|write|keep|put|ask|run", "for the future", "from this point|today on", "henceforth", "from here on out", "next time|times|pr|prs ... {do}|please|always|never|do|i", "as of|from today|now", "in all|every|any future|new|later|following|coming", "for all|every|any future|new|following|further|subsequent|other|our|the|my|your ... use|please|always|never|i|want|keep|write|{do}", "for the rest of|this _ ... session|project|repo",
		},
		unless: []string{"works from now on", "in future versions|releases|work|we|it", "api|server|cron|job|service|endpoint|flag ... from now on", "will .. in the future", "in the future we|it|this", "going forward with", "moving forward with", "next time the|it|i|we|someone", "in future .. might|may|could"},
		keeps:  dampConditional,
	},
	{
		name: "always, never", category: Preference, who: user, weight: plain,
		any: []string{
			"^ always {do}|{style}", "^ never {do}|ever", "please always|never", "you|i want you to|should|must|to always|never", "do not ever", "you .. should|must|can|may|need|have .. always|never", "make sure .. you|to always|never", "i .. always|never want|wanted|use|like|need|work|write|read|put|have|run|squash|rebase", "we .. always|never use|do|commit|push|write|put|name|squash|rebase|merge|test|deploy|force|log|add|ship|release|mock|run|have|go|import|start|prefix|spell|branch|tag|document|edit|touch|rely|call|keep",
			"always|never {do} ... please|thanks", "remember to|that|: _", "please remember|note|keep .. that|in|:|i|we|to", "keep in mind .. i|we|that|always|never", "not ever {do}", "every time you|i|we", "each time you", "whenever you|we|there", "always|never ... without|before|after ... asking|me|first|commit|committing|tests|pushing|confirmation", "^ only ever {do}", "i want .. every|all|each|any",
		},
		unless: []string{"always|never fails|failed|returns|works|worked|happens|crashes", "never mind", "never worked|happened|saw|seen|heard|tried|been|get|got|had", "why .. always|never", "we never got|found|had|saw|finished|fixed|figured|decided|know", "i never said|know|knew|tried|saw|understood|remember", "remember .. when|how|last", "i want .. all|every _? failing|test|tests|to pass|files|file|of|the|errors|occurrences", "do you remember", "always on", "i always get|see|forget|wondered", "we always get|see|have to", "whenever we|there .. fails|crash|is", "every time i|we run|try|start|get|open|click|deploy", "remember that|the|we bug|error|saw|we|fixed|had", "the app|page|button|endpoint|server|function|api should|must"},
		keeps:  dampConditional | dampNegated,
	},
	{
		name: "prefers", category: Preference, who: user, weight: plain,
		any: []string{
			"{we} .. prefer|prefers _", "my preference", "{we} .. rather have|see|you|not|read|use", "{we} would rather", "{we} .. like|love|want my|all|every|our|to|it|when|short|small|the|things|your|commits|tests _ ... {style}|better|short|shorter|small|in|with|without|over|first|like|to be|as|before", "{we} .. hate|dislike|despise|detest _", "{we} do not .. like|want|need _ ... {style}|comment|comments|emojis|in|any|anymore|when|summaries|explanations|you|to|unless", "can not stand _", "big|huge|not a? fan of",
			"my|our|the .. convention|rule|standard|habit|style|policy|guideline|way|workflow|house|default here|is|:|for|says|in", "house style|rule|rules", "our|team convention|conventions|rule|rules", "convention : _", "style : _", "preference : _", "by convention", "is|s the convention|standard|rule|style|norm here|in|for|with|at", "the convention|standard|rule here? is|:", "standard for|in this|our|the project|repo|team|codebase|company", "as a general rule", "for every|all|any session|sessions", "i mean this|it for every|all", "always , no exceptions|exception", "no exceptions|exception , always", "i .. more comfortable with", "i find .. easier|harder|nicer|cleaner|more|better|hard|annoying|distracting|noisy|unreadable", "drives me crazy|nuts|mad|up", "annoys me", "pet peeve", "i want .. {do}|to|my|the|small|short|commits|your ... always|only|every|never|in english|german|before|first|each|style|per|without|one|no", "as a rule", "rule of thumb", "i .. expect you to|_ to",
		},
		unless: []string{"do you prefer", "would|do you like|rather", "prefer the? first|second|third|last|latter|former|other|new|old|version|one", "i would prefer .. if|for this|now|today|not to talk", "like to know|see|understand|have|add|use|build|ask|go|get|discuss|hear|do|be able|start|try|make|create|implement", "want to know|see|understand|add|use|build|ask|go|get|discuss|hear|do|be|start|try|make|create|implement|fix|check|keep|move|switch|change|refactor|write|test|migrate", "want it|this|that to|fixed|done|in|as", "looks like", "something like", "i want .. for this|now", "i prefer postgres|mysql|redis|mongo|kafka|react|vue|option|the first|approach|to go|b|a|we", "what|which .. prefer", "preferred", "by default|style guide", "want the|a|an _? test|feature|button|page|endpoint|function|script|bug|file", "rather not talk", "not want to lose|break|wait|risk|touch|change", "the way it|to|we|you|is"},
		keeps:  dampConditional | dampNegated,
	},
	{
		name: "stop doing", category: Preference, who: user, weight: plain,
		any: []string{
			"^ stop {doing} _", "please stop {doing}|with", "^ quit {doing}", "do not .. {do} ... anymore|again|ever|unless|without|every|any|when|all|each|always|to|in|until|before", "^ no more {style}|{doing}", "^ enough with", "you keep|always {doing}", "^ do not {do} ... comments|emojis|emoji|docstrings|summaries|summary|explanations|commits|branches|files|code|mocks|abbreviations|exclamation|apologies|filler|anything|things|main|master", "without asking|telling|my|me|permission|confirmation|checking", "^ no {style} ... in|please|,|.|$|!|—|from|unless|at|any", "^ no need to .. {do} ... every|each|when|all|after|always", "i told you|said|asked .. not|to|already|before|always|never", "how often|many .. tell|told|times .. say|said|you|do i", "again : _",
		},
		unless: []string{"stop using the old|it|this|that server|process|container", "stop running|the server|container|service|process|tests|build", "no more errors|bugs|time|than|questions|failures|tests|info|memory|space|changes|commits|work|warnings", "do not .. worry|forget|think|know|see|understand|want|need|care|change anything yet", "no tests", "do not touch|change|edit|modify|break|delete|remove|rename|add the|this|that|it|anything|_ ... here|now|yet", "in this pr|commit|task|file|function|case|change", "for this one"},
		keeps:  dampConditional | dampNegated,
	},
	{
		name: "how to work", category: Preference, who: user, weight: part,
		any: []string{
			"ask|check|confirm .. me|with me|first .. before|first|when|if", "ask before|first|whenever", "before you|every|each|any|we|committing|pushing|merging|opening .. commit|push|merge|change|edit|delete|install|pr|touch|add|refactor|start|release|,|: ... {do}|always|run|ask|show|please|tell|i", "after every|each _ ... {do}|run|,|please", "run .. ... before|after every|each|you|any|committing|pushing|commit|push", "commit|commits|message|messages|branch|branches|pr|prs|names|name|variables|files|tests|test|functions|comments|logs|titles|docs|subject|subjects should|must|go|goes|are|in|get|have|belong|live|belongs|start|starts|need|always|stay|: ... {style}|under|in|with|next|be|start|beside|to|imperative|english|lowercase|present|prefix|one|short|small",
			"answer|reply|respond|write|explain|talk|speak|communicate .. to me? .. in|with english|german|french|spanish|deutsch|plain|short|bullet|bullets|one|simple|markdown|few|british|american|detail", "keep .. it|your|answers|the|them|replies|explanations|messages|commits|prs|functions|responses|summaries|output .. ... short|brief|small|concise|terse|minimal|focused|under|to|simple|tidy|separate|atomic", "be .. brief|concise|terse|more direct|brief|concise|terse|shorter", "just|only .. give|show me .. the|a _? diff|code|command|answer|result|final", "use|prefer|write _ ... {style} ... everywhere|throughout|please|not|in|for all|instead|, always|, never|, no|always|across", "in this|our|the repo|repository|project|codebase|team|company|house|monorepo|org .. {we} .. {do}|use|write|name|put|follow|never|always|prefer|, ...",
			"here|around .. {we} .. always|never|use|write|name|put|follow|prefer|keep|do", "{we} use _ .. for everything|all|every|tests|naming|commit|branches|formatting|here|in this", "{we} use _ ... {style} here|everywhere|only|always", "one commit|pr|change|test|file|function|class per", "per|each|every pr|commit|feature|file|fix|change .. one|a|its|separate|own|should|must|needs|gets", "call me", "speak|talk .. to me like|in", "default to", "whenever .. possible|in doubt", "if in doubt|unsure|you are .. ask|unsure", "when in doubt|unsure|you .. ask|{do}|use|prefer|add|write|are", "you do not need|have to .. {do}|explain|apologize|tell|ask ... every|each|again|always|anymore|me|all", "i .. read|review|work|use|am|run|have ... so .. please|always|never|keep|use|do|put|write", "squash|rebase .. before|instead|not|, never|, do", "conventional commits|commit", "{style} .. ,|not|over|instead|only|— .. please|not|{style}|always|no|never|for|everywhere|of",
		},
		unless: []string{"in this pr|commit|task|case|change|one", "for this one|task|pr|file|ticket|case|time", "this time", "just for|this now|once|today", "tests must|should pass|be green|cover|still", "the commit|message|test|function|file should|must", "before we|you start|begin|deploy|merge|release ,|can|i|is|should|what", "run the tests|migration before|after .. ?", "commit|commits .. were|was", "names in the|table|csv|list|column", "messages are|in the queue|topic|get|go to", "logs are|go", "test|tests are|failing|go|in red|green", "what", "which", "how", "why", "message|messages must|should be delivered|acked|processed|retried", "are in the|PATH|CODE"},
		keeps:  dampConditional | dampNegated,
	},
	{
		name: "ask, each time", category: Preference, who: user, weight: likely,
		any: []string{
			"ask|check|confirm .. me|with .. before|first|when|if|whenever", "ask before|first|whenever", "before you|every|each|any|committing|pushing|merging .. commit|push|merge|change|edit|install|pr|start|release|,|: ... always|run|ask|show|please|tell", "after every|each _ ... run|,|please", "run .. ... before|after every|each|you|any|committing|pushing|commit|push", "one commit|pr|change|test|file|concern|function|class|thing per|at", "call me", "when|if in doubt|unsure ... ask|use|prefer|add|write", "keep your|the answers|replies|explanations|messages|commits|prs|functions|responses|summaries ... short|brief|small|concise|terse|minimal|focused",
			"{style} should|must always? be|start|have|use|go", "{do} first , .. after|then|not|only", "one small step", "wait for my|me|an ok|go|confirmation|approval|permission",
		},
		unless: []string{"in this pr|commit|task|case|change|one", "for this one|task|pr|file|ticket|case|time", "this time", "just for|this now|once|today", "tests must|should pass|be green", "what", "which", "how many", "why", "test|tests are", "before we|i .. start|begin|go|leave|merge|deploy|release"},
		keeps:  dampConditional | dampNegated,
	},
	{
		name: "house rule", category: Preference, who: user, weight: likely,
		any: []string{
			"^ in my|our projects|project|code|repo|repos|team|company|codebase|apps _ ...", "^ {do} _ ... , i not|can|do|hate|find|prefer|like|read", "^ do not {do} ... , i _ ...", "i like|love|want my _ ...", "_ everywhere ,|.|$|please|pls", "when|if you are|re? not? sure|unsure|uncertain|stuck ... ask|tell|stop|check", "that s|is how|the way .. {we}|lab|team|everyone|our|repos|all|whole .. do|does|look|works|write|it|them", "as a habit|rule|principle", "in all|any|every .. reports|files|tests|docs|code|queries|repos|projects|commits|prs|readmes|logs you|we|our|.|,|for", "in all our|your|the? repos|projects|docs|reports|code|services|modules", "not here ... not .. elsewhere|in|anywhere|there", "treat _ ... as", "hands off", "^ no {style}|_ outside|anywhere|in our|in any|in test|elsewhere", "{we} do not do|use|write|like that|those|it|this|them", "is|are banned|forbidden|verboten|frowned in|here|upon|on|by",
			"in this|our app|repo|solution|codebase|project|team|company|monorepo|org {we} .. {do}|write|use|name|put", "all new|our|future code|files|queries|tests|modules|services|functions|components", "hurts|hurt my eyes|brain", "{we} name|spell|prefix|format|indent|write|call _ ... like|in|with|without|as|for", "also the old|existing ones?", "i get lost when you", "i keep .. converting|seeing|telling|having|fixing|reverting|scrolling", "anywhere|everywhere in our|the|this code|repo|project", "for all new|our code|files|services|modules", "{style} everywhere|throughout|always|anywhere", "whenever you _", "^ use|write|prefer _ ... everywhere|throughout|always",
			"for|when|whenever i am|m on call", "give me the|a _? first", "{we} always|never _",
		},
		unless: []string{"in this pr|commit|task|case|change|one|function|file|script", "for this one|task|pr|file|ticket|case|time", "this time", "what|which|why|how", "rename|replace|remove|update|fix", "was|were", "i will|am|m|ll|just|did|think|guess|need|saw|still", "bug|error|fails|crash|crashes", "tests fail|failing", "{ext} policy|audit|regulation|law", "customer|client|auditor|audit|vendor|bafin|legal"},
		keeps:  dampConditional | dampNegated,
	},
	{
		name: "general", category: Preference, who: user, weight: hint,
		any:    []string{"always|everywhere|anywhere|elsewhere|whenever", "every|each time", "in all|our|this|any repo|repos|codebase|code|projects|team|docs|reports", "please|pls , _", "{style}", "for everything|all", "never|ever", "instead of", "you keep|used|wrote|silenced"},
		unless: []string{"why|how|what|which"},
		keeps:  dampConditional | dampNegated,
	},
}
