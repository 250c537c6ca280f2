package triage

// constraintRules find limits that are imposed from outside and stay.
var constraintRules = []rule{
	{
		name: "limit with a number", category: Constraint, weight: plain, keeps: dampNegated,
		any: []string{
			"limit|limits|quota|cap|ceiling|maximum|max|timeout|budget|allowance is|are|of|:|at|to|was|stays|= ... NUM", "max|maximum _ is|are|of NUM", "one|two|three|four|five|six|ten _ per {unit}", "must|have|has to? ... within NUM", "limited|restricted|capped|throttled|throttles|limits|caps|restricts|rate|bounded|limit us? .. to|at|limited|by|of ... NUM",
			"at most|no more|maximum|max|only|up|not more to|of|than|get|allows|NUM .. {unit} per|a|an|each|/", "NUM _? {unit} per|a|an|each|/ {unit}", "not|never|cannot .. exceed|go|be|hold|grow|take|send|store|larger|bigger|longer|more ... NUM", "rejects|refuses|cuts|drops|kills|truncates|rejected|refused|cut ... over|above|after|larger|longer|bigger|beyond|at .. NUM", "allows|accepts|supports|permits|gives|grants|takes|offers us? .. only|most|maximum|max|up|just|no|at .. ... NUM",
			"only .. allows|accepts|supports|permits|gives|get|have|has|lets ... NUM", "hard|soft|rate|size|payload|memory|time|upload|row|length|request|body|file|message|connection|api|character limit|cap|quota .. ... NUM", "times|timeout|timeouts|timed out .. at|after|of NUM", "maximum|max|minimum|min .. ... size|length|number|memory|version|amount .. is|of|: .. NUM", "NUM .. limit|quota|cap|maximum|max|ceiling|hard|per request|limits",
			"expire|expires|expired|retained|kept|retention|deleted|purged after|for|is|of NUM", "must .. respond|answer|finish|fit|stay|complete|return|run ... within|under|below|in NUM",
		},
		unless: []string{"^ add|set|implement|build|create|put|make|limit|cap|restrict|raise|lower|increase|reduce|write|bump ...", "i bounded|capped|limited|added|reduced|lowered", "not limited|restricted|capped", "variable|parameter|constant|argument|default|flag|field is|was|of", "we set|raised|bumped|lowered|chose|configured", "i set|raised|bumped|lowered|added|configured", "set the|a limit|timeout|max", "raise|bump|increase|lower the", "tests pass|passed|failed|ran", "per page : "},
		with:   []string{"{ext}", "per second|minute|hour|day|month", "limit|limits|limited|quota|cap|capped|throttled|throttles|rejects|refuses|hard|exceed|maximum|max|allowed|allows|only|must|kills|cuts"},
	},
	{
		name: "limit", category: Constraint, weight: likely,
		any: []string{
			"hard limit|cap|ceiling|constraint|requirement", "api limit|limits|quota", "rate limit|limits|limited|limiting .. of|on|is|are|at|by|per|:|applies|apply", "there is|are|s .. limit|limits|quota|cap|restriction|restrictions|limitation|ceiling .. on|of|for|in", "limitation|restriction .. of|in|on|is|from|: _", "known limitation", "constraint : _", "constraint is|from", "limitation : _", "limit : _",
			"is|are .. limited|restricted|capped|confined to|by _", "restricted|confined|bound to", "external constraint", "given|fixed constraint",
		},
		unless: []string{"we added|add|built|implement|implemented|want|need .. rate|limit", "rate limiter", "implement|add|build|test|write|write a? rate", "is there", "no limit|limitation|restriction|constraint", "without limit|restriction", "limit : NUM|CODE", "unique|foreign|key|check|not|database|db|primary|type|null constraint|constraints", "add a constraint", "limited to this|that|the", "not limited to"},
	},
	{
		name: "not supported", category: Constraint, weight: likely,
		any: []string{
			"does|do|did|will|can not .. support|allow|permit|offer|provide|expose|accept|let|run|have|handle|guarantee|send|return|deliver|include|implement", "not .. supported|allowed|permitted|available|possible|exposed|offered|licensed|accessible|reachable by|in|on|with|for|there|from|before|until|.|,|:", "only .. supports|allows|accepts|runs|works|permits|offers|speaks|knows|has|gives|available|supported|allowed|lets",
			"supports|allows|accepts|permits|speaks only", "no .. support for", "lacks|lack _", "unsupported on|by|in", "has no .. api|support|way|access|endpoint|webhook|internet|bulk|push|streaming|transactions", "there is|s no .. api|support|way|access|endpoint|webhook to|for|in|on", "forbids|prohibits|blocks|disallows|bans|forbid|prohibit|block|rejects _", "blocked|forbidden|prohibited|banned by|in|on|from|at|for",
			"can only .. run|use|be|call|deploy|reach|store|send|install|access|write|read|connect|deliver|get", "no .. access|root|internet|outbound|network .. from|on|in|there|to|.|,",
		},
		with:   []string{"{ext}", "old|version|versions NUM|PATH|of", "their|they", "the .. api|service|platform|library|driver|plan|database"},
		unless: []string{"no such file", "find", "root cause", "fixed", "{we} do|did|will|would|can not support|allow", "{we} did|do not", "{we} added|add support", "file|directory not", "type|types|method|function|class is not", "not available in the? sandbox", "i do not have", "module not"},
		keeps:  dampNegated | dampReported,
	},
	{
		name: "must", category: Constraint, weight: plain,
		any: []string{
			"must|has|have|needs|need|had to|be|not? .. stay|remain|keep|support|run|work|comply|conform|live|be ... on|in|under|below|within|with|compatible|inside|at|for|without|offline ... {ext}|NUM|eu|germany|europe|us|java|region|years|PATH",
			"must|may|can not|never .. leave|leaves ... eu|germany|europe|us|region|country|datacenter|network|building|premises|tenant|device|vpc|cluster|company|account", "required|mandated|dictated|imposed|prescribed|demanded|enforced|forced|forbidden|prohibited|prevented|blocked by .. {ext}", "{ext} .. requires|require|mandates|mandate|demands|demand|insists|insist|dictates|forbids|forbid|prohibits|prohibit|prescribes|enforces|enforce|bans|ban|blocks|disallows|rejects ...",
			"contractually|legally|by law|contract .. required|obliged|bound|forbidden|must|not", "{ext} policy|rule|rules|requirement|requirements says|say|requires|require|forbids|forbid|is|are|:|that|does|do|prohibits|mandates", "{we} .. not .. to? use|upgrade|install|open|deploy|change|store|send|log|add|touch|go|move|run|access|ship|host|export|drop|migrate|modify|connect|write|call|leave|expose|patch|replace ... {ext}|because|until|without|there|version|NUM|PATH|approved|whitelisted",
			"have to|must|need to|needs to|has to .. support|run|work|ship|stay|target|build|keep|remain|be .. ... on|with|for|supporting|compatible ... {ext}|PATH|NUM|offline|intranet|old|version", "is|are .. not|n allowed|permitted|approved|whitelisted|certified|licensed to|by|in|on|for|there|here", "stuck|stuck on|with _ ... until|because|for|,|.|$", "pinned|locked|tied to|on|at|into _ ... because|until|by|for|, {ext}", "air gapped", "freeze|frozen until|from|between|in|starts", "no outbound|internet|network|root|admin|write access|connection|connections|traffic|privileges|rights",
			"not allowed to", "{ext} .. will not .. approve|allow|let|upgrade|change|install|open|accept|give|grant", "only .. approved|whitelisted|certified|licensed", "{ext} .. refuses|rejects|will reject|refused to|all|any|everything|anything", "until .. {ext} .. upgrades|upgrade|upgraded|migrates|renews|approves|supports", "regulatory|regulation|compliance|contractual|legal|licensing|licence|license requirement|requirements|reasons|constraint|constraints|obligation|obligations|restriction|restrictions|grounds",
			"retention|retain|retained|keep|kept|stored|archive|archived|audit .. ... NUM years|year|months|days",
		},
		unless: []string{"want you|me|him|her|them", "you must", "can not find|see|tell|reproduce|connect|read|open file", "tests must|have", "not .. accept writes|connections|logins|input", "must be a bug", "must have been|been", "i|we must|have|need to fix|check|look|make|add|remember|do|test", "it must be", "i can not .. access|run|open|install|reach", "stuck on|with the|this|that|an|a error|problem|bug|test|it", "i am|m not allowed"},
		keeps:  dampNegated | dampReported,
	},
	{
		name: "platform", category: Constraint, weight: likely,
		any: []string{
			"still .. runs|run|on|uses|use|have ... {ext} ... NUM|PATH|only", "customers|clients|users|devices|machines|servers still|only run|runs|use|on|have", "end of life|support", "deprecated|sunset|sunsets|retired|retires|discontinued|shutting on|in|by|after|from|as|down", "nothing newer|else", "single|only one writer|region|connection|instance|core|thread|license|seat ... {ext}", "only available|works|runs|supported on|in|to|with|for|from|since|during", "{ext} .. is|are read only|offline|frozen|immutable|mandatory|fixed", "there is|s no setting|switch|option|way|entitlement|flag|knob|api to|for|that|around|in", "{ext} .. only in|on|between|during|from|at|once|every ... and|or|to|,|only",
			"{ext} .. caps|limits|throttles|restricts|charges|bills|expires|kills|strips|truncates|rounds|ignores|reorders|blocks|terminates|rotates|retains|deletes|times|delivers .. ... NUM|us|everything|all|after|anything|requests|at|out|to|our|any|every|only|least", "{ext} .. has|have only|never",
			"maintenance window|windows", "{we} .. only|just get|have .. NUM|one|two|a single", "no .. control over", "can not be changed|raised|increased|lifted|extended|upgraded|disabled|turned|modified|avoided|configured", "not configurable|negotiable|adjustable", "non negotiable", "outside|beyond .. our control", "not .. under|in our control",
		},
		unless: []string{"tests", "root cause", "fixed", "the test|build", "bug", "is there"},
		keeps:  dampNegated | dampReported,
	},
	{
		name: "for good", category: Constraint, who: user, weight: likely,
		any: []string{
			"carved|written|set in stone", "fixed|given hardware|budget|size|price", "by contract|law|policy|regulation|statute|agreement", "{we} may|can|must only _ ...", "{we} are only allowed", "nothing|nobody|no _ may|can be|use|install|deploy|access|change|touch ... without|until|unless", "not .. without the? .. approval|ok|permission|consent|sign|team", "{dept} says|said|insists|wants|demands|confirmed|refuses|told ... must|stays|stay|has|have|no|not|never|only|can|needs|need|may", "not .. do|change|influence anything|much|that|this|it .. about", "covers|cover|includes|include NUM ... only|max|most", "has|have NUM .. memory|ram|flash|disk|storage|cores|cpu ...", "{dept}|company|group|team rule|policy", "that s|is life|law|reality|it|final|how it is", "that s|is just? how it is|works", "no exception|exceptions", "no .. upgrade|update|change|increase|extension|exemption|newer|raise|way .. before|until|ever|possible|planned|will|in|around", "will|would not|never|n't .. raise|change|upgrade|pay|lift|extend|sell|offer|allow|approve|fix|widen|open|budge", "do|does|did not .. sell|offer|give|allow|provide|guarantee .. more|us|newer|anything|it", "can not make|force them|him|her", "by law", "law for us|everyone", "wiggle room", "every year|january|december|quarter|month ... policy|lock|freeze|closed",
			"group|company|corporate|parent|internal|bank|security|it|hr|federal|eu|state policy|rule|regulation|mandate", "told us|me", "all .. will|'ll {we} ever get", "is|are all {we} get|have", "always been like that|this", "at|by .. max|most per|,|by|for", "hard|firm cap|deadline", "that s|is the plan for", "so design|plan for it|that", "on their|his side", "gets|get|got .. rejected|banned|fined|blocked", "frozen|locked until|from|between|by|end", "freeze|freezes until|from|between|at|in|end", "no one|nobody can change|raise|lift",
			"{we} have|must to? live with .. it|that|this", "everything|anything|all|files|uploads|requests|messages|payloads above|over|below|beyond|larger|bigger .. NUM", "ends|end at NUM", "is|are|only NUM|~ .. max|maximum|minimum|tops", "takes|keeps|gives|gets|allows|accepts|holds|grants|grant|needs us? .. NUM .. per|a|an|between|rows|bytes|days|records|hours|minutes|messages|requests", "contract .. says|requires|demands|until|states|forbids",
		},
		with:   []string{"{ext}", "limit|limits|limited|quota|cap|max|maximum|plan|account|policy|law|until|rejected|license|them|they|their", "NUM ... per|a|max|bytes|rows|days|years|NUM|limit", "no|not|never|only|everything|anything|every", "frozen|freeze|locked", "live with that"},
		unless: []string{"can|may only hope|guess|assume|recommend|say|see|try|test|run it|imagine", "want you|me", "for now", "^ add|set|implement|build|create|raise|lower|bump ...", "i set|added|raised|lowered|bumped", "debt|hack|workaround|ugly", "told me to|how|about|what", "in the next|this pr|commit", "tests|test", "fixed|root cause", "live with it|that|the ... until|till|for now"},
		keeps:  dampNegated | dampReported | dampConditional,
	},
	{
		name: "has to live with", category: Constraint, weight: likely,
		any: []string{
			"nothing|not|no {we} can|much {we} can? do about", "have to work around|within", "way around it|that|this", "so .. must|always|never|everything|anything|all|only|each|every ... {ext}|CODE|NUM", "imposed|dictated|given by|from|on",
		},
		with:   []string{"limit|limits|limited|quota|cap|restriction|restricted|restricts|{ext}|policy|only|forbidden|not allowed|supported|blocked|maximum|max|rejects"},
		unless: []string{"fixed", "for now", "debt"},
		keeps:  dampNegated | dampReported,
	},
}
