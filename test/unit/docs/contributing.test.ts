import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { VERSION } from '../../../capture-runner/src/runtime/version.ts'
import { repository } from '../../cluster/host/state.ts'
import { assertEvery } from '../../support/accepts.ts'
import { readText } from '../../support/sources/code-blocks.ts'

// The pages for contributors name existing files and scripts, and the settings for tools agree.

interface Manifest {
  version: string
  workspaces: string[]
  scripts: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const pages = ['CONTRIBUTING.md', 'SECURITY.md', 'docs/examples/README.md', '.github/pull_request_template.md']
const readJson = <T>(file: string): T => JSON.parse(readText(file)) as T
const manifest = readJson<Manifest>('package.json')
const manifests = [manifest, ...manifest.workspaces.map((workspace) => readJson<Manifest>(`${workspace}/package.json`))]

/** Code spans that start with a folder of the repository. `<name>` is a placeholder. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:\.ci|\.github|api-gateway|capture-runner|charts|crds|docs|operator|test)\/[^\s`<>]*)`/g)].map(
    ([, file = '']) => file,
  )

/** Paths in code blocks: arguments of `node`, `sh` and `tap`. */
const argumentsIn = (text: string): string[] =>
  [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    [...block.matchAll(/(?<= )(?:test|docs|charts|crds)\/[\w./*-]+/g)].map(([file]) => file),
  )

for (const page of pages) {
  t.test(`${page} names only files and scripts that exist`, async (t) => {
    const text = readText(page)
    const files = [...pathsIn(text), ...argumentsIn(text)].filter((file) => globSync(file, { cwd: repository }).length === 0)
    const scripts = [...text.matchAll(/npm run ([a-z]+)/g)].map(([, script = '']) => script).filter((script) => !manifest.scripts[script])
    t.strictSame({ files, scripts }, { files: [], scripts: [] })
  })
}

t.test('CONTRIBUTING.md names files, so that the file check is not empty', async (t) => {
  const text = readText('CONTRIBUTING.md')
  t.ok(pathsIn(text).length > 40, `${pathsIn(text).length} paths`)
  t.ok(argumentsIn(text).length > 10, `${argumentsIn(text).length} arguments`)
})

t.test('all packages, the chart and the runner have the same version', async (t) => {
  const chart = parse(readText('charts/tintype/Chart.yaml')) as { version: string; appVersion: string }
  const own = manifests.flatMap(({ dependencies = {} }) => Object.entries(dependencies).filter(([name]) => name.startsWith('@tintype/')))
  t.equal(own.length, 4)
  const versions = [
    ...manifests.map(({ version }) => version),
    ...own.map(([, version]) => version),
    chart.version,
    chart.appVersion,
    VERSION,
  ]
  t.strictSame(new Set(versions), new Set([manifest.version]))
})

t.test('.editorconfig has the indent and the width of biome.json', async (t) => {
  const { formatter } = readJson<{ formatter: { indentStyle: string; indentWidth: number; lineWidth: number } }>('biome.json')
  const text = readText('.editorconfig')
  t.match(text, `indent_style = ${formatter.indentStyle}\nindent_size = ${formatter.indentWidth}\n`)
  t.match(text, `max_line_length = ${formatter.lineWidth}\n`)
})

t.test('renovate.json has rules only for npm packages that are used', async (t) => {
  const { packageRules } = readJson<{ packageRules: { matchManagers?: string[]; matchPackageNames: string[] }[] }>('renovate.json')
  const used = new Set(manifests.flatMap(({ dependencies, devDependencies }) => Object.keys({ ...dependencies, ...devDependencies })))
  const named = packageRules.flatMap(({ matchManagers, matchPackageNames }) => (matchManagers ? [] : matchPackageNames))
  t.ok(named.length > 3)
  assertEvery(t, named, (name) => used.has(name))
})

t.test('the development container builds from a Dockerfile with the Go that the local cluster needs', async (t) => {
  const { build, postCreateCommand } = readJson<{ build: { dockerfile: string }; postCreateCommand: string }>(
    '.devcontainer/devcontainer.json',
  )
  const [, wanted] = /^go (\d+\.\d+)/m.exec(readText('test/cluster/go/go.mod')) ?? []
  t.match(readText(`.devcontainer/${build.dockerfile}`), `FROM golang:${wanted}-bookworm`)
  t.ok(existsSync(path.join(repository, postCreateCommand.replace(/^sh /, ''))))
})

for (const file of globSync('.github/ISSUE_TEMPLATE/{bug,feature}.yml', { cwd: repository })) {
  t.test(`${file} meets the requirements of a GitHub issue template`, async (t) => {
    const template = parse(readText(file)) as {
      name: string
      description: string
      body: { type: string; id?: string; attributes: object }[]
    }
    t.ok(template.name && template.description)
    const inputs = template.body.filter(({ type }) => type !== 'markdown')
    t.ok(inputs.length > 0)
    t.equal(new Set(inputs.map(({ id }) => id)).size, inputs.length)
    assertEvery(t, inputs, ({ type, attributes }) => ['input', 'textarea'].includes(type) && 'label' in attributes)
  })
}
