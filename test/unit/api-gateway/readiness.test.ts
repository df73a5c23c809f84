import t from 'tap'
import { AUTH_STALE_MILLISECONDS, findUnreadyReasons, STALE_MILLISECONDS } from '../../../api-gateway/src/readiness.ts'

const nowMilliseconds = 1_000_000
const cache = { name: 'screenshots', hasSynced: true, lastSeenAt: nowMilliseconds, isForAuthentication: false }
const keys = { ...cache, name: 'apikeys', isForAuthentication: true }
const ready = { isDraining: false, hasDownloadKeys: true, hasSealingKey: true, isAdmitted: true, caches: [cache], nowMilliseconds }

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
    facts: { ...ready, caches: [{ ...cache, hasSynced: false }] },
    reasons: ['screenshots: not listed yet'],
  },
  {
    name: 'a short silence of the API server',
    facts: { ...ready, caches: [{ ...cache, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS }] },
    reasons: [],
  },
  {
    name: 'a long silence of the API server',
    facts: { ...ready, caches: [{ ...cache, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS - 1 }] },
    reasons: ['screenshots: no sign from the API server'],
  },
  {
    name: 'a copy of the keys that may hold revoked ones',
    facts: { ...ready, caches: [{ ...keys, lastSeenAt: nowMilliseconds - AUTH_STALE_MILLISECONDS - 1 }] },
    reasons: ['apikeys: no sign from the API server'],
  },
  {
    name: 'a copy of the keys that is old enough to be looked at again',
    facts: { ...ready, caches: [{ ...keys, lastSeenAt: nowMilliseconds - AUTH_STALE_MILLISECONDS }] },
    reasons: [],
  },
]
for (const { name, facts, reasons } of cases) {
  t.test(`findUnreadyReasons ${name}`, async (t) => t.strictSame(findUnreadyReasons(facts), reasons))
}
