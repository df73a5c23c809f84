import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { CommandError, run } from '../../cluster/host/exec.ts'
import { repository } from '../../cluster/host/state.ts'
import { ensureTool, locateTool } from '../../release/tools.ts'

// actionlint checks the workflow that publishes releases: keys, expressions, and with shellcheck its scripts.

const workflow = path.join(repository, '.github/workflows/release.yaml')
await ensureTool('actionlint')

const lint = (input: string): Promise<string> =>
  run(locateTool('actionlint'), ['-no-color', '-oneline', '-stdin-filename', workflow, '-'], { input, directory: repository }).catch(
    (error: unknown) => {
      if (error instanceof CommandError && error.output !== '') return error.output
      throw error
    },
  )

t.test('actionlint has no complaint about the workflow', async (t) => t.equal(await lint(await readFile(workflow, 'utf8')), ''))

t.test('actionlint finds an unknown context and an unquoted variable', async (t) => {
  const text = await readFile(workflow, 'utf8')
  t.match(await lint(text.replace('github.token', 'github.tokne')), /property "tokne" is not defined/)
  t.match(await lint(text.replace('"$PWD"', '$PWD')), /SC2086/)
})
