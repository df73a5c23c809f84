import t from 'tap'
import { findUnreadyReasons, STALE_MILLISECONDS } from '../../../api-gateway/src/readiness.ts'

const nowMilliseconds = 1_000_000
const copy = { name: 'apikeys', hasSynced: true, lastSeenAt: nowMilliseconds }
const ready = { isDraining: false, hasDownloadKeys: true, hasSealingKey: true, copies: [copy], nowMilliseconds }

const cases = [
  { name: 'a replica that has all it needs', facts: ready, reasons: [] },
  { name: 'a process that ends', facts: { ...ready, isDraining: true }, reasons: ['the process is ending'] },
  { name: 'missing download keys', facts: { ...ready, hasDownloadKeys: false }, reasons: ['the download keys are not there'] },
  { name: 'a missing sealing key', facts: { ...ready, hasSealingKey: false }, reasons: ['the sealing key is not there'] },
  { name: 'a first list under way', facts: { ...ready, copies: [{ ...copy, hasSynced: false }] }, reasons: ['apikeys: not listed yet'] },
  {
    name: 'a short silence of the API server',
    facts: { ...ready, copies: [{ ...copy, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS }] },
    reasons: [],
  },
  {
    name: 'a long silence of the API server',
    facts: { ...ready, copies: [{ ...copy, lastSeenAt: nowMilliseconds - STALE_MILLISECONDS - 1 }] },
    reasons: ['apikeys: no sign from the API server'],
  },
]
for (const { name, facts, reasons } of cases) {
  t.test(`findUnreadyReasons judges ${name}`, async (t) => t.strictSame(findUnreadyReasons(facts), reasons))
}
