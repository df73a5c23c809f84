/** Generates clients from an OpenAPI document, as users do, and runs programs that use them. */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'
import { ensurePythonTools, locatePythonTools } from '../fuzz/python-tools.ts'

/** Where a client finds the service. */
export interface Service {
  url: string
  key: string
}

export const clients = path.join(repository, 'test/clients')

/** In the repository, so that packages resolve. */
export const emptyDirectory = async (name: string): Promise<string> => {
  const directory = path.join(repository, '.tintype/test', name)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  return directory
}

export const environmentOf = ({ url, key }: Service) => ({ TINTYPE_URL: url, TINTYPE_API_KEY: key })

export async function loadDocument(directory: string, { url }: Service): Promise<string> {
  const file = path.join(directory, 'openapi.json')
  const response = await fetch(`${url}/api/v1/openapi.json`)
  await writeFile(file, await response.text())
  return file
}

const compilerOptions = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'dom'],
  types: ['node'],
  allowImportingTsExtensions: true,
  skipLibCheck: false,
}

/** Generates types with openapi-typescript, compiles the program in strict mode, and runs it. Resolves to its output. */
export async function runTypeScriptClient(service: Service): Promise<string> {
  const directory = await emptyDirectory('client-typescript')
  const document = await loadDocument(directory, service)
  const bin = (name: string) => path.join(clients, 'node_modules/.bin', name)
  await run(bin('openapi-typescript'), [document, '--output', path.join(directory, 'schema.d.ts')])
  await copyFile(path.join(clients, 'smoke.ts'), path.join(directory, 'smoke.ts'))
  await writeFile(path.join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['smoke.ts'] }))
  await run(bin('tsc'), ['-p', directory])
  return run(process.execPath, ['smoke.ts'], { directory, environment: environmentOf(service), timeoutMilliseconds: 60_000 })
}

/** Generates the package with openapi-python-client, compiles it, and runs the program. Resolves to its output. */
export async function runPythonClient(service: Service): Promise<string> {
  await ensurePythonTools()
  const programs = await locatePythonTools()
  const directory = await emptyDirectory('client-python')
  const document = await loadDocument(directory, service)
  const output = path.join(directory, 'tintype_client')
  const environment = { PATH: `${programs}:${process.env.PATH}` } // the generator calls ruff, which is in the same directory
  await run(path.join(programs, 'openapi-python-client'), ['generate', '--path', document, '--output-path', output, '--meta', 'none'], {
    environment,
  })
  const python = path.join(programs, 'python')
  await run(python, ['-m', 'compileall', '-q', output])
  await copyFile(path.join(clients, 'smoke.py'), path.join(directory, 'smoke.py'))
  return run(python, ['smoke.py'], { directory, environment: environmentOf(service), timeoutMilliseconds: 60_000 })
}
