import t from 'tap'
import { hasVisibleText } from '../../../../crds/src/text/visible.ts'

t.test('hasVisibleText finds a character that shows something', async (t) => {
  for (const text of ['a', ' a ', '。', '📷', '👩‍👧', '\u200bא', '\ue000']) t.ok(hasVisibleText(text), JSON.stringify(text))
})

t.test('hasVisibleText ignores white space, control characters and characters without a picture', async (t) => {
  const invisible = [
    '',
    ' ',
    '\t\r\n',
    '\u0000',
    '\u0085\u00a0',
    '\u3000',
    '\u200b\u200d',
    '\ufeff',
    '\u2800',
    '\u3164',
    '\ufe0f',
    '\u{e0020}',
  ]
  for (const text of invisible) t.notOk(hasVisibleText(text), JSON.stringify(text))
})
