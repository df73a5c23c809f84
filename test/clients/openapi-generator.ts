/** Generates clients with openapi-generator, as users do, and runs programs that use them. */
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run, succeeds } from '../cluster/host/exec.ts'
import { fillOnce, installOnce } from '../cluster/host/fill-once.ts'
import { ensurePackages } from '../cluster/host/packages.ts'
import { cache } from '../cluster/host/state.ts'
import { clients, emptyDirectory, environmentOf, loadDocument, type Service } from './generate.ts'

const VERSION = '7.17.0'
const MINUTES = 10
const programs = path.join(clients, 'openapi-generator')

/** The generator, which Maven downloads once. Installs Maven with Java from Debian if it is missing. Resolves to the file. */
async function ensureGenerator(): Promise<string> {
  if (!(await succeeds('mvn', ['--version']))) await ensurePackages(() => {}, ['maven', 'default-jre-headless'])
  const directory = path.join(cache, 'openapi-generator', VERSION)
  const jar = path.join(directory, 'generator.jar')
  await fillOnce(directory, async (draft) => {
    const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${VERSION}`
    await run('mvn', ['--batch-mode', '--quiet', 'dependency:copy', artifact, `-DoutputDirectory=${draft}`], { directory: draft })
    const [file = ''] = await readdir(draft)
    await rename(path.join(draft, file), path.join(draft, path.basename(jar)))
  })
  return jar
}

/** Generates a client into the folder `client` of a new directory. Resolves to the directory. */
async function generate(service: Service, generator: string, ...properties: string[]): Promise<string> {
  const [jar, directory] = [await ensureGenerator(), await emptyDirectory(`openapi-generator-${generator}`)]
  const document = await loadDocument(directory, service)
  const options = properties.length === 0 ? [] : [`--additional-properties=${properties.join(',')}`]
  const output = ['-i', document, '-g', generator, '-o', path.join(directory, 'client'), ...options]
  await run('java', ['-jar', jar, 'generate', ...output], { directory, timeoutMilliseconds: MINUTES * 60_000 })
  return directory
}

const settingsFor = (service: Service, directory: string) => ({
  directory,
  environment: environmentOf(service),
  timeoutMilliseconds: MINUTES * 60_000,
})

/** Python. The packages that the client needs are installed once, in an environment of their own. */
async function runPython(service: Service): Promise<string> {
  const directory = await generate(service, 'python', 'packageName=tintype_generated')
  const venv = path.join(cache, 'openapi-generator', `python-${VERSION}`)
  const python = path.join(venv, 'bin/python')
  await installOnce(venv, async () => {
    await run('python3', ['-m', 'venv', venv])
    const list = path.join(directory, 'client/requirements.txt')
    await run(python, ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '-r', list])
  })
  const { environment, ...settings } = settingsFor(service, path.join(directory, 'client'))
  await run(python, ['-m', 'compileall', '-q', 'tintype_generated'], settings)
  const PYTHONPATH = path.join(directory, 'client')
  return run(python, [path.join(programs, 'smoke.py')], { ...settings, environment: { ...environment, PYTHONPATH } })
}

async function runGo(service: Service): Promise<string> {
  const directory = await generate(service, 'go', 'packageName=tintype', 'isGoSubmodule=false', 'withGoMod=false')
  const client = path.join(directory, 'client')
  await writeFile(path.join(client, 'go.mod'), 'module example.com/tintype\n\ngo 1.23\n')
  await mkdir(path.join(client, 'smoke'))
  await copyFile(path.join(programs, 'smoke.go.txt'), path.join(client, 'smoke/main.go'))
  const { environment, ...settings } = settingsFor(service, client)
  return run('go', ['run', '-mod=mod', './smoke'], { ...settings, environment: { ...environment, GOWORK: 'off' } })
}

async function runTypeScript(service: Service): Promise<string> {
  const directory = await generate(service, 'typescript-fetch', 'importFileExtension=.js', 'modelPropertyNaming=original')
  await copyFile(path.join(programs, 'smoke.ts'), path.join(directory, 'smoke.ts'))
  await writeFile(path.join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: ['node'], outDir: 'built' }
  await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['smoke.ts'] }))
  await run(path.join(clients, 'node_modules/.bin/tsc'), ['-p', directory], { directory })
  return run(process.execPath, ['built/smoke.js'], settingsFor(service, directory))
}

/** Each language: generates, compiles and runs its client. Resolves to the output. */
export const GENERATED = { Python: runPython, Go: runGo, TypeScript: runTypeScript }
