import t from 'tap'
import { readQuery } from '../../../../../api-gateway/src/http/query.ts'
import { planResponse, waitQuery } from '../../../../../api-gateway/src/resources/screenshots/wait.ts'

const plans: [Parameters<typeof planResponse>[0], ReturnType<typeof planResponse>][] = [
  [
    { request: {}, preferred: 'record' },
    { waitSeconds: 0, body: 'record' },
  ],
  [
    { request: {}, waitSeconds: 7, preferred: 'record' },
    { waitSeconds: 7, body: 'record' },
  ],
  [
    { request: { async: false }, preferred: 'record' },
    { waitSeconds: 25, body: 'record' },
  ],
  [
    { request: {}, preferred: 'file' },
    { waitSeconds: 25, body: 'file' },
  ],
  [
    { request: { async: true }, preferred: 'file' },
    { waitSeconds: 0, body: 'file' },
  ],
  [
    { request: { async: true }, waitSeconds: 3, preferred: 'file' },
    { waitSeconds: 3, body: 'file' },
  ],
  [
    { request: { responseType: 'by_format' }, preferred: 'record' },
    { waitSeconds: 25, body: 'file' },
  ],
  [
    { request: { responseType: 'json', async: false }, preferred: 'file' },
    { waitSeconds: 25, body: 'record' },
  ],
  [
    { request: { responseType: 'empty', async: false }, preferred: 'file' },
    { waitSeconds: 25, body: 'empty' },
  ],
]
for (const [asked, plan] of plans) {
  t.test(`planResponse for ${JSON.stringify(asked)}`, async (t) => t.strictSame(planResponse(asked), plan))
}

t.test('waitQuery takes 1 to 25 whole seconds', async (t) => {
  t.strictSame(readQuery({}, waitQuery), { wait: undefined })
  t.strictSame(readQuery({ wait: '25' }, waitQuery), { wait: 25 })
  for (const query of [{ wait: '0' }, { wait: '26' }, { wait: '1.5' }, { wait: '' }, { wait: ['1', '2'] }, { wiat: '5' }]) {
    t.throws(() => readQuery(query, waitQuery), { code: 'VALIDATION_ERROR' }, JSON.stringify(query))
  }
})
