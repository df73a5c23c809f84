import { runCommand } from '../cluster/host/command.ts'
import { makeRelease } from './release.ts'
import { help, parseSettings } from './settings.ts'

// `npm run release`: builds, signs and publishes a release. See settings.ts for the options.

async function main(): Promise<void> {
  const settings = parseSettings(process.argv.slice(2))
  if (settings === undefined) return void process.stdout.write(help)
  if (settings.key !== undefined && process.env.COSIGN_PASSWORD === undefined)
    throw new Error('COSIGN_PASSWORD is not set: set it to the password of the private key, or to an empty text if it has none')
  const { build, images } = await makeRelease(settings)
  const done = settings.isPushed ? `pushed to ${build.registry}` : 'not pushed: add --push'
  process.stdout.write(`\nTintype ${build.version}: ${images.length} images, ${done}. ${build.output}/RELEASE.md says how to install it.\n`)
}

await runCommand(main)
