import t from 'tap'
import { AUTHORITY_STALE_MILLISECONDS, findUnreadyReasons, STALE_MILLISECONDS } from '../../../api-gateway/src/readiness.ts'

const nowMilliseconds = 1_000_000
const copy = { name: 'screenshots', hasSynced: true, lastSeenAt: nowMilliseconds, isAuthority: false }
const keys = { ...copy, name: 'apikeys', isAuthority: true }
const ready = { isDraining: false, hasDownloadKeys: true, hasSealingKey: true, isAdmitted: true, copies: [copy], nowMilliseconds }

const cases = [
  { name: 'a replica that has all it needs', facts: ready, reasons: [] },
  { name: 'a process that ends', facts: { ...ready, isDraining: true }, reasons: ['the process is ending'] },
  { name: 'missing download keys', facts: { ...ready, hasDownloadKeys: false }, reasons: ['the download keys are not there'] },
  { name: 'a missing sealing key', facts: { ...ready, hasSealingKey: false }, reasons: ['the sealing key is not there'] },
  {
    name: 'a store whose setup has not made the key yet',
    facts: { ...ready, isAdmitted: false },
    reasons: ['object storage has not accepted the access key yet'],
  },
  {
    name: 'a first list under way',
    facts: { ...ready, copies: [{ ...copy, hasSynced: false }] },
    reasons: ['screenshots: not listed yet'],
  },
  {
    name: 'a short silence of the API server',
    facts: { ...ready, copies: [{ ...copy, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS }] },
    reasons: [],
  },
  {
    name: 'a long silence of the API server',
    facts: { ...ready, copies: [{ ...copy, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS - 1 }] },
    reasons: ['screenshots: no sign from the API server'],
  },
  {
    name: 'a copy of the keys that may hold revoked ones',
    facts: { ...ready, copies: [{ ...keys, lastSeenAt: nowMilliseconds - AUTHORITY_STALE_MILLISECONDS - 1 }] },
    reasons: ['apikeys: no sign from the API server'],
  },
  {
    name: 'a copy of the keys that is old enough to be looked at again',
    facts: { ...ready, copies: [{ ...keys, lastSeenAt: nowMilliseconds - AUTHORITY_STALE_MILLISECONDS }] },
    reasons: [],
  },
]
for (const { name, facts, reasons } of cases) {
  t.test(`findUnreadyReasons ${name}`, async (t) => t.strictSame(findUnreadyReasons(facts), reasons))
}
