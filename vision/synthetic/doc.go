// Package synthetic renders a visitor's photo of a picture: framed on a wall, seen at an angle, in uneven light, with
// glare, blur, noise and the losses of JPEG, and says where the picture's corners came to lie. It also renders photos
// of things no gallery has. Tests and the demo use it where no camera and no visitor is at hand; it does not replace
// real photos in a measurement.
//
// Everything follows from the parameters: the same ones give the same photo, whatever runs beside it.
package synthetic
