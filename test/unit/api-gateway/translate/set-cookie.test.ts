import t from 'tap'
import { parseSetCookie } from '../../../../api-gateway/src/translate/set-cookie.ts'

const read = [
  ['a=b', { name: 'a', value: 'b' }],
  [' a = b ', { name: 'a', value: 'b' }],
  ['a=', { name: 'a', value: '' }],
  ['a=b=c==', { name: 'a', value: 'b=c==' }],
  ['a="b c"', { name: 'a', value: '"b c"' }],
  ['a=b; Domain=.example.com; Path=/x', { name: 'a', value: 'b', domain: '.example.com', path: '/x' }],
  ['a=b; SECURE; httponly; SameSite=strict', { name: 'a', value: 'b', secure: true, httpOnly: true, sameSite: 'Strict' }],
  ['a=b; Expires=Thu, 01 Jan 2026 00:00:10 GMT', { name: 'a', value: 'b', expires: 1_767_225_610 }],
  ['a=b; Expires=soon; SameSite=any; Path=x; Domain=; Max-Age=0; Unknown=1;', { name: 'a', value: 'b' }],
] as const
for (const [text, cookie] of read) t.test(`parseSetCookie reads ${text}`, async (t) => t.strictSame(parseSetCookie(text), cookie))

for (const text of ['', 'a', '=b', 'a b=c', 'a=b\nc', `a=${'x'.repeat(4096)}`, 'a=b; Domain=ex ample'])
  t.test(`parseSetCookie takes ${JSON.stringify(text.slice(0, 20))} for no cookie`, async (t) => t.equal(parseSetCookie(text), undefined))
