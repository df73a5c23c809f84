import t from 'tap'
import { toHtml } from '../../../../../capture-runner/src/steps/navigation/open-markup.ts'

const markdown = (text: string): string => toHtml({ kind: 'markdown', text })

t.test('toHtml returns HTML unchanged', async (t) => {
  t.equal(toHtml({ kind: 'html', text: '<p>a' }), '<p>a')
})

t.test('toHtml shows HTML in Markdown as text', async (t) => {
  const html = markdown('<script>alert(1)</script>\n\n[a](javascript:alert(1))')
  t.notMatch(html, '<script>')
  t.notMatch(html, 'href="javascript:')
  t.match(html, '&lt;script&gt;')
})

t.test('toHtml supports tables and code', async (t) => {
  t.match(markdown('| a |\n|---|\n| 1 |\n\n```js\n1 < 2\n```'), /<table>[\s\S]*<td>1<\/td>[\s\S]*<code class="language-js">1 &lt; 2/)
})
