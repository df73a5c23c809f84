import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { checkedFiles, checkProse } from '../../prose/check.ts'
import { checkMessages, checkRepository, findMessages, findTitles } from '../../prose/messages.ts'
import { buildVale } from '../../prose/vale.ts'

// The prose check of `npm run verify` finds forbidden words. A rule without matches would accept every text.

await buildVale()
const directory = await mkdtemp(path.join(tmpdir(), 'tintype-prose-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))

const check = async (text: string, minimum?: 'suggestion') => {
  const file = path.join(directory, 'page.md')
  await writeFile(file, `# A page\n\n${text}\n`)
  return checkProse([file], minimum)
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
for (const [rule, text] of faults) {
  t.test(`the prose check rejects: ${text}`, async (t) => {
    for (const place of [text, `- ${text}`, `| A | B |\n|---|---|\n| one | ${text} |`]) {
      const { isGood, output } = await check(place)
      t.notOk(isGood, place)
      t.match(output, `Tintype.${rule}`)
    }
  })
}

t.test('the prose check accepts plain text, and forbidden words in code', async (t) => {
  const { isGood, output } = await check(
    'The gateway returns 404. What does it do next? It retries.\n\nThe code is `CANCELLED`.\n\n```sh\necho whoever\n```',
  )
  t.ok(isGood, output)
})

t.test('a sentence of more than 30 words is a suggestion, not an error', async (t) => {
  const text = `${'The gateway reads the record and '.repeat(6)}returns it.`
  const { isGood, output } = await check(text, 'suggestion')
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
