import t from 'tap'
import { showHidden, toVisible } from '../../../api-gateway/console/src/format/visible-text.ts'

t.test('toVisible escapes hidden characters, and keeps line breaks and tabs', async (t) => {
  t.equal(toVisible('a\u{202e}b\u{200b}\u{9b}\u{1b}[2J'), String.raw`a\u202eb\u200b\u009b\u001b[2J`)
  t.equal(toVisible('{\r\n\t"naïve": 中\n}'), '{\r\n\t"naïve": 中\n}')
})

t.test('every text and every attribute that people see shows hidden characters, and values of fields do not', async (t) => {
  const show = (node: { type: unknown; props: unknown }): unknown => {
    showHidden(node)
    return node.props
  }
  const attributes = { alt: '\u{202e}', title: 'a\u{202e}', 'aria-label': '\u{202e}', src: 'https://a.example/\u{202e}', value: '\u{202e}' }
  const shown = { alt: String.raw`\u202e`, title: String.raw`a\u202e`, 'aria-label': String.raw`\u202e` }
  t.strictSame(show({ type: 'img', props: { ...attributes } }), { ...attributes, ...shown })
  t.strictSame(show({ type: () => null, props: { ...attributes } }), attributes, 'a component gets the value')
  t.equal(show({ type: null, props: 'a\u{202e}' }), String.raw`a\u202e`)
  t.equal(show({ type: null, props: 7 }), 7)
})
