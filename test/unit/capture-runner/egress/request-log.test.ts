import t from 'tap'
import { EgressError } from '../../../../capture-runner/src/egress/egress-error.ts'
import { LedgerBook, MAX_LEDGER_ENTRIES } from '../../../../capture-runner/src/egress/request-log.ts'

const aBook = () => new LedgerBook(() => 42)

t.test('LedgerBook opens an entry as pending, with the time of the clock given', async (t) => {
  const book = aBook()
  const entry = book.open('example.com', 443)
  t.strictSame(entry, { at: 42, host: 'example.com', port: 443, verdict: 'pending', bytesSent: 0, bytesReceived: 0 })
  t.strictSame(book.entries, [entry])
})

t.test('LedgerBook sums bytes for the entry and for the capture', async (t) => {
  const book = aBook()
  const [one, other] = [book.open('a.example', 80), book.open('b.example', 80)]
  book.count(one, 1, 10)
  book.count(one, 2, 20)
  book.count(other, 4, 40)
  t.match(one, { bytesSent: 3, bytesReceived: 30 })
  t.match(book, { bytesSent: 7, bytesReceived: 70 })
})

t.test('LedgerBook tells refusals from failures', async (t) => {
  const cases = [
    { thrown: new EgressError('BLOCKED_ADDRESS', 'no'), wanted: { verdict: 'refused', code: 'BLOCKED_ADDRESS', reason: 'no' } },
    { thrown: new EgressError('RESOURCE_LIMIT', 'no'), wanted: { verdict: 'refused', code: 'RESOURCE_LIMIT', reason: 'no' } },
    {
      thrown: new EgressError('DNS_FAILED', 'no', { systemCode: 'ENOTFOUND' }),
      wanted: { verdict: 'failed', code: 'DNS_FAILED', error: 'ENOTFOUND' },
    },
    {
      thrown: Object.assign(new Error('x'), { code: 'ECONNRESET' }),
      wanted: { verdict: 'failed', code: 'NAVIGATION_FAILED', error: 'ECONNRESET' },
    },
  ]
  for (const { thrown, wanted } of cases) {
    const book = aBook()
    const entry = book.open('example.com', 80)
    book.fail(entry, thrown)
    t.match(entry, wanted, wanted.code)
  }
})

t.test('LedgerBook counts on when it has no room for entries', async (t) => {
  const book = aBook()
  for (let i = 0; i < MAX_LEDGER_ENTRIES + 3; i++) book.count(book.open('example.com', 80), 1, 1)
  t.equal(book.entries.length, MAX_LEDGER_ENTRIES)
  t.equal(book.total, MAX_LEDGER_ENTRIES + 3)
  t.equal(book.bytesSent, MAX_LEDGER_ENTRIES + 3)
})
