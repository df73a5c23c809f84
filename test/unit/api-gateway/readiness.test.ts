import t from 'tap'
import { AUTH_STALE_MILLISECONDS, findUnreadyReasons, STALE_MILLISECONDS } from '../../../api-gateway/src/readiness.ts'

const nowMilliseconds = 1_000_000
const cache = { name: 'screenshots', hasSynced: true, lastSeenAt: nowMilliseconds, isForAuthentication: false }
const keys = { ...cache, name: 'apikeys', isForAuthentication: true }
const ready = { isDraining: false, hasDownloadKeys: true, hasSealingKey: true, isAdmitted: true, caches: [cache], nowMilliseconds }

const cases = [
  { name: 'a replica that has all it needs', facts: ready, reasons: [] },
  { name: 'a process that shuts down', facts: { ...ready, isDraining: true }, reasons: ['shutting down'] },
  { name: 'missing download keys', facts: { ...ready, hasDownloadKeys: false }, reasons: ['download keys not loaded'] },
  { name: 'a missing sealing key', facts: { ...ready, hasSealingKey: false }, reasons: ['sealing key not loaded'] },
  {
    name: 'object storage without the access key',
    facts: { ...ready, isAdmitted: false },
    reasons: ['object storage has not accepted the access key yet'],
  },
  {
    name: 'a cache that is not synced',
    facts: { ...ready, caches: [{ ...cache, hasSynced: false }] },
    reasons: ['cache not synced: screenshots'],
  },
  {
    name: 'a short silence of the API server',
    facts: { ...ready, caches: [{ ...cache, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS }] },
    reasons: [],
  },
  {
    name: 'a long silence of the API server',
    facts: { ...ready, caches: [{ ...cache, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS - 1 }] },
    reasons: ['cache stale: screenshots'],
  },
  {
    name: 'a key cache that may contain revoked keys',
    facts: { ...ready, caches: [{ ...keys, lastSeenAt: nowMilliseconds - AUTH_STALE_MILLISECONDS - 1 }] },
    reasons: ['cache stale: apikeys'],
  },
  {
    name: 'a key cache at the staleness limit',
    facts: { ...ready, caches: [{ ...keys, lastSeenAt: nowMilliseconds - AUTH_STALE_MILLISECONDS }] },
    reasons: [],
  },
]
for (const { name, facts, reasons } of cases) {
  t.test(`findUnreadyReasons ${name}`, async (t) => t.strictSame(findUnreadyReasons(facts), reasons))
}
