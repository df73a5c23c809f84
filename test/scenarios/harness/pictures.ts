import { createHash } from 'node:crypto'
import sharp from 'sharp'

/** Decodes a picture; two files give the same text only if they show the same pixels. */
export async function fingerprint(file: Buffer): Promise<string> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return `${info.width}×${info.height} ${createHash('sha256').update(data).digest('hex')}`
}
