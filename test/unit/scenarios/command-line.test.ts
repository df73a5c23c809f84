import t from 'tap'
import { MAX_URLS } from '../../../api-gateway/src/resources/batches/create-body.ts'
import { SCENARIOS } from '../../scenarios/all.ts'
import { markOf, readFigures, replaceFigures } from '../../scenarios/harness/figures.ts'
import { helpOf, parseCommandLine } from '../../scenarios/harness/options.ts'
import { reportTo } from '../../scenarios/harness/scenario.ts'

const commands = ['bench', 'soak'] as const

t.test('bench takes names as --only, and soak as arguments', async (t) => {
  t.match(parseCommandLine('bench', ['--only', 'a', '--only', 'b', '--rounds', '3']), {
    names: ['a', 'b'],
    given: { rounds: 3 },
    write: false,
  })
  t.match(parseCommandLine('soak', ['year', 'many', '--write']), { names: ['year', 'many'], given: {}, write: true })
  t.strictSame(parseCommandLine('soak', ['release', '--only', 'minio,operator', '--cluster'])?.given, {
    cluster: true,
    only: 'minio,operator',
  })
  t.strictSame(parseCommandLine('bench', ['--page', 'http://a/', '--page', 'http://b/'])?.given, { page: 'http://a/ http://b/' })
  t.equal(parseCommandLine('soak', ['--help']), undefined)
})

t.test('options are checked', async (t) => {
  const table: [option: string, accepted: string[], rejected: string[]][] = [
    ['rounds', ['1', '20'], ['0', '-1', '1.5', 'x', '']],
    ['seconds', ['0.5', '60'], ['0', '-1', 'x']],
    ['fill', ['0', '5'], ['-1', 'x']],
    ['pause', ['0', '200'], ['-1']],
    ['batch', ['1', String(MAX_URLS)], ['0', '1.5', String(MAX_URLS + 1)]],
  ]
  for (const [option, accepted, rejected] of table) {
    for (const text of accepted) t.strictSame(parseCommandLine('soak', [`--${option}=${text}`])?.given, { [option]: Number(text) })
    for (const text of rejected) t.throws(() => parseCommandLine('soak', [`--${option}=${text}`]), { message: `--${option} must be` })
  }
  t.throws(() => parseCommandLine('bench', ['--unknown']), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' })
})

for (const command of commands) {
  t.test(`the help of ${command} lists each scenario and each option that it takes`, async (t) => {
    const help = helpOf(command, SCENARIOS[command])
    for (const { name, shows, options = {} } of SCENARIOS[command]) {
      t.ok(help.includes(`\n  ${name} `) && help.includes(shows), name)
      for (const option of Object.keys(options)) {
        const line = help.split('\n').find((text) => text.startsWith(`  --${option} `))
        t.match(line, new RegExp(`\\b${name}\\b`), `--${option} of ${name}`)
      }
    }
  })

  t.test(`docs/benchmarks.md has exactly one place for each scenario of ${command}`, async (t) => {
    const text = await readFigures()
    const marks = [...text.matchAll(new RegExp(`^<!-- figures of ${command} \\S+ -->$`, 'gm'))].map(([mark]) => mark)
    t.strictSame(marks.sort(), SCENARIOS[command].map(({ name }) => markOf(command, name)).sort())
    t.doesNotThrow(() => SCENARIOS[command].map(({ name }) => replaceFigures(text, markOf(command, name), '')))
  })
}

t.test('replaceFigures replaces one block', async (t) => {
  const text = 'a\n<!-- x -->\nold\n<!-- end of figures -->\n<!-- y -->\nkept\n<!-- end of figures -->\n'
  const wanted = 'a\n<!-- x -->\n\nnew\n\n<!-- end of figures -->\n<!-- y -->\nkept\n<!-- end of figures -->\n'
  t.equal(replaceFigures(text, '<!-- x -->', 'new'), wanted)
  t.throws(() => replaceFigures(text, '<!-- z -->', 'new'), { message: 'has no place' })
})

t.test('findings are written at once, with their limit', async (t) => {
  const written: unknown[] = []
  const report = reportTo(
    (result) => written.push(result),
    () => {},
  )
  report.atMost('at the limit', 5, 5, 'ms')
  report.atMost('above it', 5.1, 5, 'ms', 1)
  report.atLeast('at the limit', 5, 5, '')
  report.atLeast('below it', 4, 5, '')
  report.holds('a claim', false, 'seen')
  report.note('a value', '7')
  t.strictSame(written, [
    { shows: 'at the limit', measured: '5 ms', bar: '≤ 5 ms', isMet: true },
    { shows: 'above it', measured: '5.1 ms', bar: '≤ 5 ms', isMet: false },
    { shows: 'at the limit', measured: '5', bar: '≥ 5', isMet: true },
    { shows: 'below it', measured: '4', bar: '≥ 5', isMet: false },
    { shows: 'a claim', measured: 'seen', bar: '', isMet: false },
    { shows: 'a value', measured: '7', bar: '', isMet: true },
  ])
})
