import sharp from 'sharp'

// Settings of the image library, for every import of it.

// Its cache is useless here, because no image is processed twice.
sharp.cache(false)

// Only the formats that Tintype writes. A picture of the bucket may have been forged, and decoders of other formats read files or URLs.
const LOADERS = ['Png', 'Jpeg', 'Webp', 'Heif'].map((format) => `VipsForeignLoad${format}`)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: LOADERS })

export default sharp
