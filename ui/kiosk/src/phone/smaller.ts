/** The longer side of the photo that is sent, in pixels: more helps recognition no further. */
const side = 1600

/**
 * Makes a photo small enough to be sent quickly, upright and without what the camera wrote into it, such as the place.
 * Where the browser cannot read it, it is sent as it is, and the kiosk says what is wrong with it.
 */
export async function smaller(file: Blob): Promise<Blob> {
  try {
    const picture = await createImageBitmap(file, { imageOrientation: 'from-image' })
    const scale = Math.min(1, side / Math.max(picture.width, picture.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(picture.width * scale)
    canvas.height = Math.round(picture.height * scale)
    canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
    picture.close()
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? file), 'image/jpeg', 0.88))
  } catch {
    return file
  }
}
