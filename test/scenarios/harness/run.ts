import { kubectl } from '../../support/cluster/environment.ts'
import { type Figures, markOf, readFigures, writeFigures } from './figures.ts'
import { describeMachine, readLoad } from './machine.ts'
import { type Command, type CommandLine, helpOf, type Options, parseCommandLine, type Settings } from './options.ts'
import { type Finding, reportTo, type Scenario } from './scenario.ts'
import { renderTable } from './table.ts'
import { undoOnSignal, withEnds } from './undo.ts'

const NO_CLUSTER = 'no cluster responds; run npm start first, or set TINTYPE_CLUSTER=current'

const progress = (line: string): void => void process.stderr.write(`   ${new Date().toISOString().slice(11, 19)} ${line}\n`)

/** Chooses scenarios by the command line, runs them, and prints results as they are made. Resolves to the exit code. */
export async function runCommand(command: Command, args: readonly string[], scenarios: readonly Scenario[]): Promise<number> {
  let line: CommandLine | undefined
  try {
    line = parseCommandLine(command, args)
    if (!line) {
      console.log(helpOf(command, scenarios))
      return 0
    }
    const unknown = line.names.filter((name) => !scenarios.some((scenario) => scenario.name === name))
    if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}. Choose from ${scenarios.map(({ name }) => name).join(', ')}`)
    await requirePlaces(command, line, scenarios)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 2
  }
  const { names, given, write } = line
  const chosen = scenarios.filter(({ name }) => names.length === 0 || names.includes(name))
  if (chosen.some(({ stage }) => stage?.name === 'cluster') && !(await doesClusterRespond())) {
    console.error(NO_CLUSTER)
    return 1
  }
  const started = new Date()
  console.log(`${started.toISOString()}, ${describeMachine()}`)
  undoOnSignal()
  let [met, failed] = [0, 0]
  for (const scenario of chosen) {
    const results = await runOne(scenario, given)
    for (const result of results) if ('shows' in result) result.isMet ? met++ : failed++
    if (write) await writeFigures(toFigures({ command, args, started }, scenario, results))
  }
  console.log(`\n${met} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

async function runOne({ name, shows, stage, options = {}, run }: Scenario, given: CommandLine['given']): Promise<Figures['results']> {
  const results: Figures['results'][number][] = []
  const report = reportTo((result) => {
    results.push(result)
    console.log('shows' in result ? describeFinding(result) : `\n${renderTable(result)}\n`)
  }, progress)
  const begun = performance.now()
  console.log(`\n== ${name}: ${shows}`)
  try {
    const settings = { ...options, ...given } as Settings<Options>
    await withEnds(async (ends) => run({ ...report, settings, ends, stage: await stage?.open(ends, progress) }))
  } catch (error) {
    console.error(error)
    report.holds(`${name} runs to its end`, false, error instanceof Error ? error.message : String(error))
  }
  console.log(`== ${name}: ${((performance.now() - begun) / 1_000).toFixed(0)} s`)
  return results
}

const describeFinding = ({ shows, measured, bar, isMet }: Finding): string =>
  `${isMet ? 'ok    ' : 'NOT OK'} ${shows}: ${measured}${bar === '' ? '' : ` (${bar})`}`

/** @throws if a chosen scenario has no place for its figures, before hours pass */
async function requirePlaces(command: Command, { write, names }: CommandLine, scenarios: readonly Scenario[]): Promise<void> {
  if (!write) return
  const text = await readFigures()
  const missing = scenarios.filter(({ name }) => (names.length === 0 || names.includes(name)) && !text.includes(markOf(command, name)))
  if (missing.length > 0) throw new Error(`docs/benchmarks.md has no place for ${missing.map(({ name }) => name).join(', ')}`)
}

interface Source {
  command: Command
  args: readonly string[]
  started: Date
}

function toFigures({ command, args, started }: Source, { name, shows, stage }: Scenario, results: Figures['results']): Figures {
  const when = started.toISOString().slice(0, 16).replace('T', ' ')
  const place = [`${describeMachine()}, load ${readLoad().toFixed(0)}`, ...(stage ? [stage.about()] : [])].join('; ')
  const source = `\`npm run ${command} -- ${args.join(' ')}\`, ${when} UTC. ${place}.`
  return { mark: markOf(command, name), title: `${name}: ${shows}`, results, source }
}

/** Without `npm start` no kubeconfig exists, so kubectl is not started at all. */
const doesClusterRespond = (): Promise<boolean> =>
  kubectl(['get', '--raw', '/readyz', '--request-timeout=10s']).then(
    ({ code }) => code === 0,
    () => false,
  )
