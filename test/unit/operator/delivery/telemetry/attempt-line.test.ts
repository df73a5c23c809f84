import t from 'tap'
import { toFinding, toLoggedResponse } from '../../../../../operator/src/delivery/telemetry/attempt-line.ts'
import { at } from '../../../../support/fakes/builders.ts'

const current = 'whsec_c2VjcmV0IG9mIGEgdGVzdA'
const previous = 'whsec_YW5vdGhlciBzZWNyZXQ'

const answers = [
  { name: 'as it is', excerpt: 'thanks', shown: 'thanks' },
  { name: 'without the secret', excerpt: `{"secret":"${current}"}`, shown: '{"secret":"***"}' },
  { name: 'without the previous secret', excerpt: `${previous}${current}`, shown: '******' },
  { name: 'without the first half of a secret at the cut', excerpt: `${'x'.repeat(1010)}${current}`, shown: `${'x'.repeat(1010)}***` },
  { name: 'without a character that the cut has halved', excerpt: `${'x'.repeat(1023)}é`, shown: 'x'.repeat(1023) },
  { name: 'with a mark for what is not UTF-8', excerpt: Buffer.from([0x61, 0xff, 0x62]), shown: 'a\ufffdb' },
]
for (const { name, excerpt, shown } of answers) {
  t.test(`the log has an answer ${name}`, async (t) => {
    t.equal(toLoggedResponse(Buffer.from(excerpt), { current, previous }), shown)
  })
}

const outcome = { isSuccess: false, statusCode: 0, detail: 'no response in time', durationMilliseconds: 12.6, excerpt: Buffer.alloc(0) }

t.test('the log has no answer where none came', async (t) => {
  t.strictSame(toFinding({ ...outcome, end: 'timeout' }, at(1), { current }), {
    at: at(1).toISOString(),
    milliseconds: 13,
    statusCode: 0,
    outcome: 'timeout',
    detail: 'no response in time',
  })
})

t.test('the log has no reason for a success', async (t) => {
  const success = { ...outcome, end: 'answered', isSuccess: true, statusCode: 204 } as const
  t.strictSame(toFinding(success, at(1), { current }), {
    at: at(1).toISOString(),
    milliseconds: 13,
    statusCode: 204,
    outcome: 'success',
    answer: '',
  })
})
