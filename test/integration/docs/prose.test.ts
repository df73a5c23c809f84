import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { checkedFiles, checkProse } from '../../prose/check.ts'
import { checkMessages, checkRepository, findMessages, findTitles } from '../../prose/messages.ts'
import { buildVale } from '../../prose/vale.ts'
import { createDirectory } from '../../support/directory.ts'

// The prose check of `npm run verify` finds forbidden words. A rule without matches would accept every text.

await buildVale()
const directory = await createDirectory(t, 'prose')

async function writePage(name: string, text: string): Promise<string> {
  const file = path.join(directory, name)
  await writeFile(file, `# A page\n\n${text}\n`)
  return file
}

const faults: [rule: string, text: string][] = [
  ['Terms', 'Ask whoever runs this service.'],
  ['Terms', 'The receiver is told of each event.'],
  ['Terms', 'The gateway answers 404.'],
  ['American', 'The picture shows one colour.'],
  ['American', 'The capture is cancelled.'],
  ['American', 'The package is under this licence.'],
  ['American', 'The runner serialises the record.'],
  ['RelativeSubject', 'What was not chosen is not stored.'],
  ['RelativeSubject', 'The queue is fair. Who has nothing queued has no share.'],
  ['Aphorisms', 'Each runner writes its own status and no other.'],
  ['References', 'Delivery follows spec 6.3.'],
  ['References', 'This avoids trap T1.'],
]
t.test('the prose check rejects forbidden words in paragraphs, lists and tables', async (t) => {
  const pages = faults.flatMap(([rule, text], index) =>
    [text, `- ${text}`, `| A | B |\n|---|---|\n| one | ${text} |`].map((place, at) => ({ rule, place, name: `fault-${index}-${at}.md` })),
  )
  const { output } = await checkProse(await Promise.all(pages.map(({ name, place }) => writePage(name, place))))
  const found = new Set(output.split('\n').map((line) => line.replace(/^.*\/(fault-\d+-\d+\.md):\d+:\d+:Tintype\.(\w+):.*$/, '$1 $2')))
  for (const { rule, place, name } of pages) t.ok(found.has(`${name} ${rule}`), `${rule}: ${place}`)
})

t.test('the prose check accepts plain text, and forbidden words in code', async (t) => {
  const page = await writePage(
    'plain.md',
    'The gateway returns 404. What does it do next? It retries.\n\nThe code is `CANCELLED`.\n\n```sh\necho whoever\n```',
  )
  const { isGood, output } = await checkProse([page])
  t.ok(isGood, output)
})

t.test('a sentence of more than 30 words is a suggestion, not an error', async (t) => {
  const text = `${'The gateway reads the record and '.repeat(6)}returns it.`
  const { isGood, output } = await checkProse([await writePage('long.md', text)], 'suggestion')
  t.ok(isGood)
  t.match(output, 'Tintype.SentenceLength')
})

t.test('the prose check reads comments and messages of code', async (t) => {
  const file = path.join(directory, 'code.ts')
  const source = (comment: string, message: string) =>
    `// ${comment}\nexport const fail = (n: number) => {\n  throw new Error(\`${message} \${n}\`)\n}\n`
  await writeFile(file, source('Ask whoever runs this service.', 'the receiver is told of event'))
  const comments = await checkProse([file])
  t.notOk(comments.isGood)
  t.match(comments.output, /code\.ts:1:\d+:Tintype\.Terms/)
  const messages = await checkMessages([file])
  t.notOk(messages.isGood)
  t.match(messages.output, /code\.ts:3:Tintype\.Terms/)
  await writeFile(file, source('Ask the caller.', 'the receiver gets event'))
  t.match([await checkProse([file]), await checkMessages([file])], [{ isGood: true }, { isGood: true }])
})

t.test('findTitles reads only the titles of tests, without the number of a specified sentence', async (t) => {
  const source = "const input = 'The gateway answers 404.'\nt.test(\n  'spec 2.2: a page says so', async (t) => t.equal('a b c d', ''))"
  t.strictSame(findTitles(source), [{ text: 'a page says so', line: 3 }])
})

t.test('findMessages leaves out names, markup and scripts, and keeps the lines', async (t) => {
  const source = `const a = 'screenshot'
/* 'not a message at all' */
const b = '<p>Text of a page</p>'
const c = \`took \${n.toFixed(1)} s of time\`
`
  t.strictSame(findMessages(source), [{ text: 'took N s of time', line: 4 }])
})

t.test('the texts of the repository pass the prose check', async (t) => {
  t.ok(checkedFiles.length > 8, `${checkedFiles.length} files`)
  for (const { isGood, output } of await checkRepository()) t.ok(isGood, output)
})
