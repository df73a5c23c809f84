import { createHash } from 'node:crypto'
import t from 'tap'
import { isKeyText, keyHash, newKeyText } from '../../../../crds/src/crypto/key-text.ts'

t.test('newKeyText returns unique texts that isKeyText accepts', async (t) => {
  const texts = Array.from({ length: 1_000 }, newKeyText)
  t.equal(new Set(texts).size, 1_000)
  t.strictSame(
    texts.filter((text) => !isKeyText(text)),
    [],
  )
})

t.test('isKeyText refuses a text with a changed, missing or additional character', async (t) => {
  const text = newKeyText()
  const changed = [...text].flatMap((letter, i) =>
    [letter === 'a' ? 'b' : 'a', ''].map((other) => text.slice(0, i) + other + text.slice(i + 1)),
  )
  const odd = ['', 'ttk_', `${text}a`, ` ${text}`, `${text}\n`, text.replace('ttk_', 'ssk_')]
  t.strictSame([...changed, ...odd].filter(isKeyText), [], text)
})

t.test('keyHash returns the SHA-256 as a valid label value', async (t) => {
  const hash = keyHash('ttk_x')
  t.match(hash, /^[a-z2-7]{52}$/)
  let value = 0n
  for (const letter of hash) value = (value << 5n) | BigInt('abcdefghijklmnopqrstuvwxyz234567'.indexOf(letter))
  t.equal(value.toString(16).padStart(64, '0'), createHash('sha256').update('ttk_x').digest('hex'))
})
