package triage

// wordClass names words that patterns use together.
type wordClass struct{ name, words string }

// wordClasses is the table of classes. A pattern names one as {name}.
var wordClasses = []wordClass{
	{"we", "we i team us everyone both"},
	{"alt", "over instead rather versus vs"},
	{"why", "because since as so due given for"},
	{"later", "later afterwards eventually someday soon separately follow followup next after future tomorrow"},
	{"do", "use write run add put keep commit push ask name call make format sort prefer include avoid handle log test check create squash rebase sign " +
		"document explain show answer reply respond wrap quote import pin start end begin let leave give tell talk speak read open close set work prefix " +
		"capitalize spell do have be go try pass return throw raise build install deploy merge rebase review stage lint indent mention summarize " +
		"describe point generate edit touch modify change delete remove skip mock stub assume guess declare define group split place store save annotate " +
		"type validate verify confirm update bump tag release ship print cite link reference comment stick follow respect apply enable disable order " +
		"separate list send post mark propose suggest paste omit drop repeat inline extract refactor default alphabetize abbreviate translate cover rely"},
	{"doing", "using adding writing putting doing making creating committing pushing running asking explaining generating including wrapping calling " +
		"touching editing changing deleting removing apologizing apologising summarizing summarising repeating inserting mocking leaving reformatting " +
		"formatting rewriting starting ending giving telling sprinkling inventing guessing assuming printing importing amending"},
	{"fixing", "adding setting changing raising bumping increasing lowering reducing decreasing switching replacing removing deleting clearing restarting " +
		"rebooting upgrading downgrading pinning rolling disabling enabling moving making using passing wrapping catching checking closing flushing " +
		"invalidating rebuilding reinstalling regenerating rotating renewing recreating updating installing mounting configuring escaping quoting " +
		"encoding decoding locking unlocking awaiting resetting reverting syncing seeding waiting retrying limiting draining purging running giving " +
		"turning setting forcing handling initializing initialising normalizing converting truncating excluding including stripping granting " +
		"whitelisting allowing exporting unsetting killing freeing extending shortening splitting batching caching skipping reordering acquiring " +
		"releasing debouncing pointing copying creating fixing correcting restoring allocating bounding guarding registering"},
	{"broken", "error errors crash crashes crashed crashing failure failures failed fails failing fail broke breaks broken breaking exception exceptions " +
		"timeout timeouts hang hangs hung hanging leak leaks leaking leaked deadlock deadlocks deadlocked flaky flake flakes oom outage downtime stuck corrupt corrupted " +
		"corruption bug bugs regression 500 500s 502 503 504 401 403 404 panic panics panicked segfault segfaults refused denied incident stalled stalls " +
		"freezes froze frozen loop looping missing duplicate duplicates duplicated wrong slow spike spikes issue problem symptom symptoms race mismatch stale dropped " +
		"drops died dies killed kill unreachable rejected rejects unresponsive overflow exhausted exhaustion empty lost blank nan"},
	{"hack", "hack hacks hacky workaround workarounds stopgap stopgaps kludge kludgy bandaid shim shims bodge shortcut shortcuts"},
	{"leave", "leave leaves leaving left keep keeping kept ship shipping shipped live hardcode hardcoded hardcoding stub stubbed stubbing skip skipped skipping " +
		"disable disabled disabling hack hacked patch patched patching duplicate duplicated copy copied suppress suppressed suppressing ignore ignored ignoring mute muted silence silenced " +
		"bypass bypassed comment commented fake faked mock mocked tolerate accept accepted accepting parked park papered swallow swallowed swallowing swallows pin pinned " +
		"xfail xfailed mask masked cast casted cheat cheated retry retries sleep polling poll"},
	{"put", "defer defers deferred deferring postpone postponed postponing punt punted punting park parked parking shelve shelved delay delayed"},
	{"redo", "do redo fix tighten change convert migrate sort clean rip replace write rewrite rework revisit address finish fill refactor split upgrade remove drop swap handle solve tackle build merge port sign encrypt move make test cover index tidy extract"},
	{"when", "later autumn fall spring summer winter q1 q2 q3 q4 january february march april june july august september october november december may quarter sprint release rework rewrite holidays " +
		"freeze friday next year week month time then v2 v3 2026 2027 2028 NUM iteration milestone refactoring redesign migration launch"},
	{"clean", "clean cleanup cleaned fix fixed fixes fixing address addressed addressing refactor refactored refactoring rewrite rewritten revisit revisited revisiting replace replaced replacing " +
		"tackle handle tidy migrate migrated remove removed removing improve improved optimize optimise extract extracted deduplicate dedupe unify split rework reworked redo redone " +
		"finish do done add added write port modernize consolidate harden generalize generalise paginate parametrize parameterize index"},
	{"work", "refactor refactoring refactored rewrite rewritten cleanup cleaned replaced split redesign redesigned reworked rework restructured overhaul overhauled modernized tidied simplified"},
	{"unit", "second seconds minute minutes hour hours day days month months week year user users key account token tenant request requests message messages " +
		"item items row rows record records call calls mb gb kb characters chars bytes connections concurrent parallel invocation invocations client project org organization repo ip " +
		"application region batch page node job jobs worker s min file files seat seats build builds execution executions query queries column columns"},
	{"ext", "api apis github gitlab bitbucket aws gcp azure s3 lambda stripe slack twilio shopify salesforce sap jira vendor vendors provider providers supplier upstream platform " +
		"plan tier customer customers client clients contract licence license licensing legal compliance policy policies security infosec gdpr hipaa pci sox " +
		"law regulation regulations regulator auditor auditors firewall proxy datacenter device devices firmware hardware browser browsers safari ie11 ios android apple google " +
		"store windows linux macos kernel kubernetes cluster postgres postgresql mysql sqlite oracle redis dynamodb kafka rabbitmq elasticsearch runtime node python java jdk php ruby jvm server servers " +
		"hosting host cloudflare heroku vercel netlify cloudfront gateway partner partners bank vpn sso ldap mainframe legacy scanner printer sensor chip " +
		"runner runners ci sandbox registry appstore marketplace webhook webhooks endpoint sdk edge workers fargate sns sqs openai anthropic gemini quota bigquery snowflake " +
		"mailgun sendgrid smtp exchange outlook paypal adyen visa mastercard erp crm ops management headquarters department it network airgapped " +
		"government union tax tariff agreement sla dpa phi pii nda export patent fda iso soc2 ferpa wcag bafin cluster vpc iam production prod staging"},
	{"doc", "readme doc docs documentation article book blog post tutorial adr page wiki paper guide manual chapter author changelog newsletter podcast video talk course " +
		"template snippet transcript quote example sample essay rfc memo slides slide ticket comment comments stackoverflow handbook whitepaper thread"},
	{"says", "says said say states stated state reads read mentions mentioned mention recommends recommended claims claimed suggests suggested argues argued explains describes " +
		"advises wrote writes tells lists shows advocates notes contains describes documents preaches insists"},
	{"board", "board team guild group cto architects management council everyone committee company leadership meeting ceo lead leads steering product"},
	{"dept", "legal security infosec compliance ops it finance hr management audit auditors auditor privacy procurement headquarters corporate operations bafin"},
	{"quality", "validation tests test auth authentication logging docs documentation retries types checks pagination paging caching encryption migration cleanup monitoring handling sanitizing escaping"},
	{"yes", "yes yep yeah yup ok okay sure agreed agree fine good great perfect sounds works right approved exactly definitely absolutely lgtm +1 deal correct confirmed please go cool nice excellent makes"},
	{"style", "style styles naming tabs spaces indentation indent quotes semicolons comments docstrings commit commits branch branches emoji emojis messages names tests formatting format english british american german french " +
		"spelling camelcase snake case snakecase kebab conventional pnpm yarn npm uv poetry answers replies responses explanations summaries tone markdown bullet bullets jargon"},
}
