import t from 'tap'
import { addHeaders } from '../../../../capture-runner/src/requests/interception.ts'

t.test('addHeaders replaces headers of the same name in any case, and keeps the rest', async (t) => {
  t.strictSame(addHeaders({ 'User-Agent': 'a', Accept: '*/*' }, { 'user-agent': 'b', 'X-Y': 'z' }), {
    Accept: '*/*',
    'user-agent': 'b',
    'X-Y': 'z',
  })
})

t.test('addHeaders keeps an Authorization header that the page set', async (t) => {
  t.strictSame(addHeaders({ authorization: 'mine' }, { Authorization: 'given', a: 'b' }), { authorization: 'mine', a: 'b' })
  t.strictSame(addHeaders({}, { Authorization: 'given' }), { Authorization: 'given' })
})
