import t from 'tap'
import { readSources } from '../support/sources/source-files.ts'

// Names that the project had coined, and the standard terms that replaced them. The test looks at identifiers only: comments, messages and texts
// may use any English word. Add a pair when a coined name is replaced, so that it does not come back.

/** A name as words: `tellPlace` also forbids `tellPlaceTo`, and `Told` forbids `isTold` and `told`. */
const replaced: Record<string, string> = {
  askedAgain: 'lastRetryAt',
  Ballast: 'toCached',
  Courier: 'DeliveryWorker',
  Departure: 'AccountDeletion',
  Doubt: 'UncertainCreate',
  Doubts: 'UncertainCreates',
  Entrance: 'Listener',
  Errand: 'DeliveryJob',
  Flights: 'SharedCaptures',
  FlightStore: 'SignedPlans',
  Heard: 'Response',
  hearTarget: 'readConnectRequest',
  hulls: 'entries of the old list format',
  insistOn: 'assert…',
  judge: 'evaluate…',
  JoinedFlight: 'JoinedCapture',
  Kills: 'CrashBudget',
  Lanes: 'KeyedLimiter',
  LedgerBook: 'DeliveryState',
  mapAtOnce: 'one helper for bounded concurrency',
  Matchmaker: 'Dispatcher',
  onGone: 'onDisconnected of a browser, onDetached of a target',
  PastKill: 'CrashRecord',
  PastKills: 'CrashRecords',
  Pulse: 'LivenessProbe',
  Removal: 'Deletion',
  Setbacks: 'backoff',
  shakeHands: 'socks5Connect',
  Shutter: 'onPageReady',
  signMark: 'signMarker',
  spare: 'standby',
  tellIgnored: 'setIgnoredOptionsHeader',
  tellPlace: 'setQueuePositionHeader',
  tellReplayed: 'setReplayedHeader',
  Told: 'Response',
  Trouble: 'problem, or a condition',
  Verdict: 'decision',
  WayOut: 'EgressSession or TabSource',
  useSettled: 'useClickGuard',
  whenAdmitted: 'waitForAccess',
  whoever: 'the role: caller, user, cluster administrator',
}

/** `insistOnRetention` → `insist on retention`. */
const toWords = (identifier: string): string =>
  identifier.replaceAll(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])|[_$]+/g, '$1$2 ').toLowerCase()

const phrases = Object.entries(replaced).map(([name, replacement]) => ({ name, replacement, phrase: ` ${toWords(name)} ` }))

/** Identifiers of a source without comments; strings and the text of templates are left out. */
function identifiersOf(code: string): Set<string> {
  const withoutText = code.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''").replaceAll(/`[^`$]*`/g, '``')
  return new Set(withoutText.match(/[A-Za-z_$][\w$]*/g))
}

function describeCoined(identifier: string): string[] {
  const words = ` ${toWords(identifier)} `
  const coined = phrases.filter(({ phrase }) => words.includes(phrase))
  return coined.map(({ name, replacement }) => `${identifier}: ${name} is now ${replacement}`)
}

/** Most identifiers are in many sources. */
const described = new Map<string, string[]>()

/** The coined names among a source's identifiers, each with what to use instead. */
function findCoined(code: string): string[] {
  const identifiers = [...identifiersOf(code)]
  for (const each of identifiers) if (!described.has(each)) described.set(each, describeCoined(each))
  return identifiers.flatMap((each) => described.get(each) ?? [])
}

t.test('the check of coined names reads identifiers by their words', async (t) => {
  t.strictSame(findCoined('class CourierDeps {}'), ['CourierDeps: Courier is now DeliveryWorker'])
  t.strictSame(findCoined('insistOnRetention(body)'), ['insistOnRetention: insistOn is now assert…'])
  t.strictSame(findCoined("log.info('told of a courier'); untold.method(`no courier`)"), [])
})

t.test('product code has no name that the project coined', async (t) => {
  const sources = readSources()
  t.ok(sources.length > 100, `${sources.length} files read`)
  for (const { file, code } of sources) t.strictSame(findCoined(code), [], file)
})
