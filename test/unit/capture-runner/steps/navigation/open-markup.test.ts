import t from 'tap'
import { toHtml } from '../../../../../capture-runner/src/steps/navigation/open-markup.ts'

const render = (text: string): string => toHtml({ kind: 'markdown', text })
const titleOf = (text: string) => /<title>([\s\S]*?)<\/title>/.exec(render(text))?.[1]
const bodyOf = (text: string): string => /<body>([\s\S]*)<\/body>/.exec(render(text))?.[1]?.trim() ?? ''
const idsOf = (text: string) => [...bodyOf(text).matchAll(/<h\d id="([^"]*)">/g)].map(([, id]) => id)

t.test('the title of a Markdown page is its first heading as it is read', async (t) => {
  t.equal(titleOf('intro\n\n## A <b> & c ##\n\n# Later'), 'A &lt;b&gt; &amp; c')
  const read: [markdown: string, title: string][] = [
    ['no heading', ''],
    ['# *Annual* __report__ of [ACME](https://example.com "home"), ~~draft~~', 'Annual report of ACME, draft'],
    ['# The `tintype` command', 'The tintype command'],
    ['# ![Logo](logo.png) Guide', 'Logo Guide'],
    ['# 2 \\* 3 &copy; 2026', '2 * 3 © 2026'],
    ['Setext *title*\n===', 'Setext title'],
    ['Two\nlines\n---', 'Two lines'],
    ['  ### Indented ###', 'Indented'],
    ['#\n\n# After an empty one', 'After an empty one'],
    ['#NoHeading\n\n# Heading', 'Heading'],
    ['```sh\n# comment\n```\n\n# Heading', 'Heading'],
    ['~~~\n# comment\n~~~\n\n# Heading', 'Heading'],
    ['    # indented code\n\n# Heading', 'Heading'],
    ['> # quoted\n\n- # listed\n\n# Heading', 'Heading'],
  ]
  for (const [markdown, title] of read) t.equal(titleOf(markdown), title, markdown)
})

t.test('headings of Markdown have the ids that GitHub gives them', async (t) => {
  t.strictSame(idsOf('# Second part\n\nSetext part\n---'), ['second-part', 'setext-part'])
  const ids: [heading: string, id: string][] = [
    ['What’s new? (2026/27)', 'whats-new-202627'],
    ['The `shot --full_page` **command**', 'the-shot---full_page-command'],
    ['[Linked](https://example.com) part', 'linked-part'],
    ['Größe & Übersicht', 'größe--übersicht'],
    ['第二部分', '第二部分'],
    ['&lt;html&gt; "quoted"', 'html-quoted'],
    ['1.2 Setup', '12-setup'],
    ['🚀 Start', '-start'],
  ]
  for (const [heading, id] of ids) t.strictSame(idsOf(`## ${heading}`), [id], heading)
})

t.test('headings of Markdown with the same text have different ids', async (t) => {
  t.strictSame(idsOf('# Part\n\n# Part\n\n# Part 1\n\n# Part\n\n# ?'), ['part', 'part-1', 'part-1-1', 'part-2', ''].filter(Boolean))
  t.strictSame(idsOf('# constructor\n\n# constructor'), ['constructor', 'constructor-1'])
})

t.test('task lists of Markdown have check boxes instead of brackets', async (t) => {
  const lists = [
    '- [x] done\n- [ ] open',
    '* [X] done\n* [ ] open',
    '1. [x] done\n2. [ ] open',
    '- [x] done\n\n- [ ] open',
    '> + [x] done\n> + [ ] open',
  ]
  for (const list of lists) {
    const body = bodyOf(list)
    t.strictSame(body.match(/<input[^>]*>/g), ['<input type="checkbox" disabled checked>', '<input type="checkbox" disabled>'], list)
    t.strictSame(body.match(/<li class="task">/g)?.length, 2, list)
    t.notMatch(body, '[', list)
    t.match(body.replace(/\s+/g, ' '), /> done.*> open/, list)
  }
  t.equal(bodyOf('- [ ] outer\n  - [x] inner').match(/<input/g)?.length, 2)
  t.match(bodyOf('- [x] **bold** and `code`'), '<input type="checkbox" disabled checked> <strong>bold</strong>')
})

t.test('brackets that are no task are shown as they are', async (t) => {
  for (const text of [
    '[ ] no list',
    '- text [x] later',
    '- [x]without a space',
    '- [y] other',
    '- [x]',
    '- `[x] code`',
    '- \\[x] escaped',
  ]) {
    t.notMatch(bodyOf(text), '<input', text)
    t.match(bodyOf(text), '[', text)
  }
  t.match(bodyOf('- [x](https://example.com) link'), '<a href="https://example.com">x</a>')
})

t.test('toHtml returns HTML unchanged', async (t) => {
  t.equal(toHtml({ kind: 'html', text: '<p>a' }), '<p>a')
})

t.test('toHtml shows HTML in Markdown as text', async (t) => {
  const html = render('<script>alert(1)</script>\n\n[a](javascript:alert(1))')
  t.notMatch(html, '<script>')
  t.notMatch(html, 'href="javascript:')
  t.match(html, '&lt;script&gt;')
})

t.test('toHtml supports tables and code', async (t) => {
  t.match(render('| a |\n|---|\n| 1 |\n\n```js\n1 < 2\n```'), /<table>[\s\S]*<td>1<\/td>[\s\S]*<code class="language-js">1 &lt; 2/)
})
