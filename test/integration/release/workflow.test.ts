import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { CommandError, run } from '../../cluster/host/exec.ts'
import { repository } from '../../cluster/host/state.ts'
import { ensureTool, locateTool } from '../../release/tools.ts'

// actionlint checks the workflows: keys, expressions, and with shellcheck their scripts.

const directory = path.join(repository, '.github/workflows')
const release = path.join(directory, 'release.yaml')
const ci = path.join(directory, 'ci.yaml')
await ensureTool('actionlint')

const lint = (file: string, input: string): Promise<string> =>
  run(locateTool('actionlint'), ['-no-color', '-oneline', '-stdin-filename', file, '-'], { input, directory: repository }).catch(
    (error: unknown) => {
      if (error instanceof CommandError && error.output !== '') return error.output
      throw error
    },
  )

for (const name of await readdir(directory)) {
  t.test(`actionlint has no complaint about ${name}`, async (t) => {
    const file = path.join(directory, name)
    t.equal(await lint(file, await readFile(file, 'utf8')), '')
  })
}

t.test('actionlint finds an unknown context and an unquoted variable', async (t) => {
  const text = await readFile(release, 'utf8')
  t.match(await lint(release, text.replace('github.token', 'github.tokne')), /property "tokne" is not defined/)
  t.match(await lint(release, text.replace('"$PWD"', '$PWD')), /SC2086/)
  t.match(await lint(ci, (await readFile(ci, 'utf8')).replace('steps.key.outputs', 'steps.keys.outputs')), /property "keys" is not defined/)
})

interface Job {
  permissions?: Record<string, string>
  steps: { uses?: string; run?: string }[]
  strategy?: { matrix: { stages: string[] } }
}

t.test('pull requests run every stage, read the repository and nothing else', async (t) => {
  const { on, permissions, jobs } = parse(await readFile(ci, 'utf8')) as { on: object; permissions: object; jobs: Record<string, Job> }
  t.match(on, { pull_request: null, push: { branches: ['main'] } })
  t.strictSame(permissions, {})
  for (const { permissions: own } of Object.values(jobs)) t.strictSame(own, { contents: 'read' })
  t.strictSame(jobs.test?.strategy?.matrix.stages.join(' ').split(' '), ['verify', 'unit', 'integration', 'e2e'])
})

t.test('the cache of pull requests has a key that follows what programs are built from', async (t) => {
  const { jobs } = parse(await readFile(ci, 'utf8')) as { jobs: Record<string, Job> }
  const script = jobs.programs?.steps.find(({ run: command }) => command?.includes('GITHUB_OUTPUT'))?.run ?? ''
  const [, sources = ''] = /files=\((.*)\)/.exec(script) ?? []
  const copy = t.testdir()
  await run('cp', ['-r', '--parents', ...sources.split(' '), copy], { directory: repository })
  const readKey = async (): Promise<string> => {
    const output = path.join(copy, 'output')
    await writeFile(output, '')
    await run('bash', ['-ec', script], { directory: copy, environment: { GITHUB_OUTPUT: output } })
    return readFile(output, 'utf8')
  }
  const key = await readKey()
  t.match(key, /^key=programs-[0-9a-f]{16}\n$/)
  t.equal(await readKey(), key)
  await appendFile(path.join(copy, 'test/cluster/go/go.mod'), '\n')
  t.not(await readKey(), key)
})
