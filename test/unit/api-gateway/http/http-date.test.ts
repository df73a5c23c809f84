import t from 'tap'
import { isUnchangedSince, parseHttpDate } from '../../../../api-gateway/src/http/http-date.ts'

t.test('parseHttpDate parses the three formats of HTTP dates', async (t) => {
  const expected = new Date('1994-11-06T08:49:37.000Z')
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    ' Sun Nov 06 08:49:37 1994',
  ])
    t.strictSame(parseHttpDate(text), expected, text)
})

t.test('parseHttpDate ignores other texts', async (t) => {
  const others = [
    '',
    '2026',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 06 Xyz 1994 08:49:37 GMT',
  ]
  for (const text of [...others, 'Sun, 06 Nov 1994 99:49:37 GMT', '"abc"', '*']) t.equal(parseHttpDate(text), undefined, text)
})

t.test('isUnchangedSince compares whole seconds', async (t) => {
  const lastModified = new Date('2026-11-21T10:20:30.456Z')
  t.ok(isUnchangedSince(lastModified, 'Sat, 21 Nov 2026 10:20:30 GMT'))
  t.ok(isUnchangedSince(lastModified, 'Sat, 21 Nov 2026 10:20:31 GMT'))
  t.notOk(isUnchangedSince(lastModified, 'Sat, 21 Nov 2026 10:20:29 GMT'))
  t.notOk(isUnchangedSince(lastModified, undefined))
  t.notOk(isUnchangedSince(lastModified, '2027'))
})
