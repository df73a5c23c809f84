import t from 'tap'
import { EgressError } from '../../../../capture-runner/src/egress/egress-error.ts'
import { MAX_LOG_ENTRIES, OpenRequestLog } from '../../../../capture-runner/src/egress/request-log.ts'

const aRequestLog = () => new OpenRequestLog(() => 42)

t.test('OpenRequestLog opens an entry as pending, with the time of the given clock', async (t) => {
  const log = aRequestLog()
  const entry = log.open('example.com', 443)
  t.strictSame(entry, { at: 42, host: 'example.com', port: 443, decision: 'pending', bytesSent: 0, bytesReceived: 0 })
  t.strictSame(log.entries, [entry])
})

t.test('OpenRequestLog sums bytes for the entry and for the capture', async (t) => {
  const log = aRequestLog()
  const [one, other] = [log.open('a.example', 80), log.open('b.example', 80)]
  log.count(one, 1, 10)
  log.count(one, 2, 20)
  log.count(other, 4, 40)
  t.match(one, { bytesSent: 3, bytesReceived: 30 })
  t.match(log, { bytesSent: 7, bytesReceived: 70 })
})

t.test('OpenRequestLog distinguishes refusals from failures', async (t) => {
  const cases = [
    { thrown: new EgressError('BLOCKED_ADDRESS', 'no'), wanted: { decision: 'refused', code: 'BLOCKED_ADDRESS', reason: 'no' } },
    { thrown: new EgressError('RESOURCE_LIMIT', 'no'), wanted: { decision: 'refused', code: 'RESOURCE_LIMIT', reason: 'no' } },
    {
      thrown: new EgressError('DNS_FAILED', 'no', { systemCode: 'ENOTFOUND' }),
      wanted: { decision: 'failed', code: 'DNS_FAILED', error: 'ENOTFOUND' },
    },
    {
      thrown: Object.assign(new Error('x'), { code: 'ECONNRESET' }),
      wanted: { decision: 'failed', code: 'NAVIGATION_FAILED', error: 'ECONNRESET' },
    },
  ]
  for (const { thrown, wanted } of cases) {
    const log = aRequestLog()
    const entry = log.open('example.com', 80)
    log.fail(entry, thrown)
    t.match(entry, wanted, wanted.code)
  }
})

t.test('OpenRequestLog still counts when it has no room for entries', async (t) => {
  const log = aRequestLog()
  for (let i = 0; i < MAX_LOG_ENTRIES + 3; i++) log.count(log.open('example.com', 80), 1, 1)
  t.equal(log.entries.length, MAX_LOG_ENTRIES)
  t.equal(log.total, MAX_LOG_ENTRIES + 3)
  t.equal(log.bytesSent, MAX_LOG_ENTRIES + 3)
})
