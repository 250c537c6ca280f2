package triage

// decisionRules find a choice between alternatives that binds later work.
var decisionRules = []rule{
	{
		name: "decided", category: Decision, weight: plain,
		any: []string{
			"{we} .. decided .. to|on|against|that|for|not|in|upon|we|i", "{we} have|had .. decided", "it s|is .. settled|decided", "{we} have? .. made up my|our minds|mind", "{we} .. agreed .. ... that|to _", "{board} approved|decided|voted|chose|picked|agreed|settled|wants|prefers _", "voted for|against|to|,|_", "is|are off the table", "final call|word|answer|verdict ... : _", "^ final : _", "got|was|were voted down|out|for|in", "^ decided .. to|on|against|that|not", "it was|is|has .. decided",
			"{we} .. settled on|for", "^ settled on", "{we} .. opted for|to|against|not", "^ opted for|to", "{we} .. committed to", "has|have been decided|settled|agreed",
			"that s|is decided|settled", "so we decided", "decided against", "decision is|was to|that|: ...", "decision : _", "decision — _", "final decision .. is|:|to", "design decision : _",
			"decided : _", "decision made : _", "is|was decided on", "^ decided ,|:|.|—|!|$", "^ yes|yep|ok|okay|fine|good|right|alright ,? decided|settled", "^ so it s|is _", "chosen because|since|as|over",
		},
		unless: []string{"loop variable", "variable name", "how we decided", "what you decided", "what we decided", "why you|we|they decided", "decide|decided later", "whatever .. decided", "have to decide", "decided to look|check|start|begin|read|run|open|try|see|wait|ask|take", "monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunch|dinner|pizza|ramen|coffee|meeting|oclock"},
	},
	{
		name: "chose", category: Decision, weight: plain,
		any: []string{
			"{we} .. chose _", "{we} have|had .. chosen|picked|selected", "{we} .. went for _ ... {alt}|because|since|as|so", "^ chose|picked|selected _ ... {alt}|because|since|as|for|so", "{we} .. picked _", "{we} .. selected _",
			"{we} am|are|will choosing|choose|picking|pick _", "was|were|been chosen ... {alt}|because|since|as|for|so", "my|our choice is|:", "choice : _", "let us choose|pick _", "^ chosen : _",
			"{we} choose|pick _ ... {alt}|because",
		},
		unless: []string{"loop variable", "variable name", "variable|counter|temp|helper name", "picked up", "pick up", "picked a few|random", "as the variable", "randomly", "cherry picked|pick", "why", "whatever"},
	},
	{
		name: "went with", category: Decision, weight: plain,
		any: []string{
			"{we} .. went with _", "{we} .. go|going with _", "let us go|stay|stick|proceed|run|live with|for _", "^ go|going|went with _", "we go for _", "{we} will go for|with _", "{we} are|am going for|with _",
			"{we} want to go with", "go with option|approach|plan|CODE|QUOTE|the|a", "i would like to go with _", "gone with _",
		},
		unless: []string{"variable|function|helper|parameter|file|branch|class name", "which|what should|shall|do|would", "go with it to", "what to go with", "with me on", "went with you", "go for it", "go for a walk"},
	},
	{
		name: "let us use", category: Decision, who: user, weight: likely,
		any: []string{
			"let us use|adopt|keep|take|switch|move|migrate|build|store|model|make|do|put|drop|split|standardize|standardise|implement|host|deploy|write|have|treat|base|target|support|start|generate|run|serve|cache|expose|introduce _ ... {alt}|because|since|as|so|for|and|to|in|on|per|via|with",
			"let us stick with|to _", "let us make it|this|them _ ... , _", "let us use|adopt _", "let us not use|do|add|support|build|introduce|go _", "let us do|take option|approach|variant|plan _", "let us standardize|standardise on _", "let us go _",
		},
		unless: []string{
			"let us see", "let us take|have a look|break|step", "let us go through|over|back|ahead|line|step|test|look|read|check|deeper|home", "let us start with|by", "let us make sure", "let us run the|it|this|that|tests|a", "let us do it|this|that", "let us put .. aside",
			"let us write a|the|some", "let us use this time", "let us move on", "let us keep going", "for now", "let us build|implement it|this|that|the", "let us add",
		},
	},
	{
		name: "stick with", category: Decision, weight: likely,
		any: []string{
			"{we} .. stick|sticking|stay|staying|stayed|stuck with|to|on _", "^ stick|stay with _", "^ sticking with|to _", "{we} .. standardize|standardise|standardized|standardised|standardizing on _",
			"stick|stay with .. {alt}", "{we} stay on|with _",
		},
		unless: []string{"stuck on|with .. error|bug|problem", "stuck on", "stuck with", "stay with me", "have to stay|stick", "must stay", "forced to", "stay on it|top|track", "need to stay"},
	},
	{
		name: "it is", category: Decision, who: user, weight: plain,
		any:    []string{"^ _ it is $", "^ _ _ it is $", "^ option|plan|variant|approach _ it is", "_ it is then", "_ it will be $", "^ _ it is ,|.|!|—|:", "^ the _ _ _ it is $"},
		unless: []string{"that|what|as|how|where|whatever|like|so|than|because|if|when|think|thinks|believe|says|sure|why|since|but|and|know|is|guess|afraid|suppose|hope|unless|until|while|though|although|or|given|not it is"},
	},
	{
		name: "we will use", category: Decision, who: user, weight: likely,
		any: []string{
			"we will .. use|adopt|store|keep|build|host|model|write|run|support|have|deploy|put|split|drop|generate|serve|switch|move|migrate|target|rely _", "we are going to .. use|adopt|store|keep|build|switch|move|migrate|write|drop|host|run|support",
			"we are switching|moving|migrating|dropping|adopting|replacing|standardizing|standardising|keeping|using _", "i am switching|going _ to|with", "we will not .. use|support|build|adopt|introduce|do|add|have|be", "we are not going to .. use|support|build|adopt|introduce|do|add|have",
			"we use _ .. instead|over|rather", "i will take|use|go with? _ ... {alt}|because|then", "i will take|go with the|your _",
		},
		unless: []string{"for now", "we will use the time", "we will have to", "we will see", "we will need", "we will do it|that|this later", "later|tomorrow|eventually|until|temporarily", "we will run into"},
	},
	{
		name: "we will use (agent)", category: Decision, who: agent, weight: part,
		any: []string{
			"we will .. use|adopt|store|keep|build|host|model|support|split|drop|switch|move|migrate _", "{we} will not .. use|support|adopt|introduce", "we are using|keeping|adopting|dropping|switching _ ... {alt}|because",
			"i am using|keeping|adopting _ ... instead|over|rather|because",
		},
		unless: []string{"for now", "we will use the time", "we will have to", "we will need", "let me"},
	},
	{
		name: "instead of, with a reason", category: Decision, weight: likely,
		any: []string{
			"{we} .. used|implemented|built|kept|made|stored|modelled|modeled|put|wrote|structured|designed|did|split|placed|moved|switched|introduced|added|replaced|use|keep|store ... instead|rather|over ... because|since|so|as|for|to",
			"{we} .. used|implemented|built|kept|made|stored|modelled|modeled|designed|replaced|use|keep|store ... because|since ... instead|rather|over",
			"rather|instead than|of ... because|since|so", "over _ because|since|for|as", "in favor|favour of _ ... because|since|so|as",
		},
		unless: []string{"over time", "all over", "over and over", "took over", "over the", "over http|tcp|ssh|https|tls|udp|wifi", "instead of failing|crashing|throwing|panicking|returning|raising", "instead|rather of|than the? CODE", "root cause", "started|starts over", "bug", "test failed|fails|failing", "run|ran|runs|loop|loops|iterate|iterates|iterating over", "fixed|fails|failed|failing|crashed|caused|broke|error"},
	},
	{
		name: "in favour of", category: Decision, weight: likely,
		any: []string{
			"{we} .. dropped|rejected|ditched|discarded|abandoned|replaced|dismissed|retired|drop|reject|ditch|retire|abandon ... in favor|favour of|for", "{we} .. rejected|ruled|discarded|dismissed _ ... because|since|as|for", "^ rejected|ruled|dismissed out? ... because|since|as",
			"{we} .. ruled out _", "^ ruled out _", "in favor|favour of _ ... over", "we .. moved|moving|switched|switching|migrated|migrating away? from _ .. to", "{we} .. dropping|dropped support for",
			"alternatives .. considered|rejected", "trade off .. accepted|is|was", "over the alternatives", "{we} .. rejected the idea|approach|option",
		},
		unless: []string{"request|login|token|push was|is rejected", "rejected the request|token|push|connection", "ruled out the|a? network|dns|cause|possibility"},
	},
	{
		name: "agreed", category: Decision, weight: likely,
		any: []string{
			"{we} .. agreed on|to|that|upon", "^ agreed : _ _", "^ agreed — _ _ _", "^ agreed , .. {we}|use|let|go|keep|no|postgres", "as agreed , _", "{we} agree .. on|to|that", "consensus is|was", "conclusion : _", "{we} .. concluded that _", "choice fell on|to _", "per|as your|our|the call|decision|choice|agreement ... rather|instead|over|not|in|on|with",
			"it s|is agreed that", "that s|is the plan then", "verdict : _",
		},
		unless: []string{"agree that this is", "what we agreed", "agreed with you", "test|tests|run"},
	},
	{
		name: "option chosen", category: Decision, who: user, weight: likely,
		any: []string{
			"^ option|variant|approach|plan|proposal|design|alternative a|b|c|d|one|two|three|NUM|1|2|3 $", "^ option|variant|approach|plan|proposal|design|alternative a|b|c|d|one|two|three|NUM .. please|then|it|,|.|!|:|—|because|since",
			"^ do|take|use|go|pick|choose|prefer with? the? option|variant|approach|plan|proposal|design|alternative|first|second|third|former|latter", "^ the first|second|third|former|latter|last one|option|approach|variant _? .. please|,|.|because|it|then|$", "i|we want|like|prefer|pick|take|choose option|variant|approach|plan _",
			"i|we prefer|like|want|take the first|second|third|former|latter|last|simpler|simple", "option|approach|variant a|b|c|NUM it is", "^ a|b|c , please|because|since", "go for option|approach|variant|plan|the",
		},
		unless: []string{"variable|function|helper|parameter|file|branch|class name", "what is|are", "version|wording|sentence|text|title|headline|draft|paragraph", "explain", "both options"},
	},
	{
		name: "the choice, told", category: Decision, weight: likely,
		any: []string{
			"the reason {we} .. chose|picked|use|used|went|decided|keep", "{we} .. wanted _ ... so {we} .. use|used|chose|picked|went", "{we} .. weighed|compared|evaluated|considered _ ... and|, .. chose|picked|went|settled|decided|use|keep|winner|won", "_ wins|won because|since|over|here|:|—|, .. {we}",
			"{we} .. will live with _ ... because|in", "the winner is|was", "{we} .. committed to", "source of truth is|will|should", "_ is the source of truth",
			"{we} .. traded _ for", "{we} accept|accepted the trade|cost|risk|latency|duplication|downside",
		},
		unless: []string{"for now"},
	},
	{
		name: "wins", category: Decision, who: user, weight: likely,
		any:    []string{"^ _ is out , ...", "^ _ _? is out , ...", "{we} take _ ... {alt}|because|since|then|.|,", "{we} want|need _ ... , not _ ...", "{we} are|am? going|go serverless|native|async|static|headless|cloud|local|offline|event|fully|full|all _ ...", "{we} .. drop|kill|retire|end|remove support for", "^ _ wins|won $", "^ _ wins|won ,|.|;|!|—", "^ _ stays , _", "full stop|period", "do that|it throughout|everywhere", "_ everywhere then", "from the start , then"},
		unless: []string{"take a|the|it|care|notes|time|over|look|into|that|this", "who|what|which", "sentence|line|string|text full", "until|for now"},
	},
}
