import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'

const module = path.join(import.meta.dirname, '../../cluster/host/fill-once.ts')

/** Fills `programs/tool-1` of a cache in a process of its own, as two commands do, and notes it in the file `fills`. */
async function fillIn(cache: string, name: 'fillOnce' | 'installOnce'): Promise<number> {
  const directory = path.join(cache, 'tintype/programs/tool-1')
  const program = `
    import { appendFile, mkdir, writeFile } from 'node:fs/promises'
    import { setTimeout } from 'node:timers/promises'
    import { ${name} } from ${JSON.stringify(module)}
    await ${name}(${JSON.stringify(directory)}, async (draft = ${JSON.stringify(directory)}) => {
      await appendFile(${JSON.stringify(path.join(cache, 'fills'))}, 'x')
      await mkdir(draft + '/module')
      await setTimeout(300)
      await writeFile(draft + '/module/tool', '')
    })`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    env: { ...process.env, XDG_CACHE_HOME: cache },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = (await once(child, 'close')) as [number]
  return code
}

for (const name of ['fillOnce', 'installOnce'] as const) {
  t.test(`${name} fills a directory once when two commands need it at the same time`, async (t) => {
    const cache = t.testdir()
    t.strictSame(await Promise.all([fillIn(cache, name), fillIn(cache, name)]), [0, 0])
    t.equal(readFileSync(path.join(cache, 'fills'), 'utf8'), 'x')
    t.ok(existsSync(path.join(cache, 'tintype/programs/tool-1/module/tool')))
    t.strictSame(readdirSync(path.join(cache, 'tintype/programs')), ['tool-1'], 'no draft and no lock is left beside it')
    t.equal(await fillIn(cache, name), 0)
    t.equal(readFileSync(path.join(cache, 'fills'), 'utf8'), 'x', 'a later command finds it')
  })
}

t.test('fillOnce discards the draft of an interrupted run', async (t) => {
  const cache = t.testdir()
  const draft = path.join(cache, 'tintype/programs/tool-1.partial')
  await mkdir(draft, { recursive: true })
  await writeFile(path.join(draft, 'module'), 'a file where a folder should be')
  t.equal(await fillIn(cache, 'fillOnce'), 0)
  t.ok(existsSync(path.join(cache, 'tintype/programs/tool-1/module/tool')))
})
